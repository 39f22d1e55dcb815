// A disk that can be full, where the machine lets us mount one: Linux, as root.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SmallDisk = {
  path: string;
  /** @param left bytes that stay free. */
  fill(left?: number): void;
  free(): void;
  remove(): void;
};

/** @returns null where the machine does not allow it. */
export function makeDisk(megabytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]);
  if (status !== 0) {
    rmSync(path, { recursive: true });
    return null;
  }
  const filling = join(path, 'filling');
  let files = 0;
  return {
    path,
    fill(left = 0) {
      const { bavail, bsize } = statfsSync(path);
      mkdirSync(filling, { recursive: true });
      writeFileSync(join(filling, String(files++)), Buffer.alloc(Math.max(0, bavail * bsize - left)));
    },
    free: () => rmSync(filling, { recursive: true, force: true }),
    remove() {
      spawnSync('umount', ['-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Why tests on one cannot run here; null if they can. */
export function whyNoDisk(): string | null {
  const disk = makeDisk(1);
  disk?.remove();
  return disk ? null : 'this machine lets nobody mount a small disk';
}
