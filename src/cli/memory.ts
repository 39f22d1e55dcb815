import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, win32 } from 'node:path';
import { misused } from './stop.ts';
import type { OwnerOrRepository } from './target.ts';
import type { Environment, World } from './world.ts';

export type KindOfItem = 'freeze' | 'plan' | 'exemption' | 'deployment exemption';

/** Something with an id, and where it is. */
export type Item = OwnerOrRepository & { kind: KindOfItem; id: string };

/** @property made whether `holdfast freeze` made it on this machine, and nobody ended it on this machine. */
type Saved = Omit<Item, 'id'> & { made?: true };

/** The service cannot find an id without its owner or repository, so this saves them. */
export type Memory = {
  find(id: string): Item | null;
  /** What `holdfast freeze` made on this machine for this owner or repository. */
  made(where: OwnerOrRepository): Item[];
  /** Saves some, the newest first. One that was saved as made here stays so. */
  save(items: (Saved & { id: string })[]): void;
  forget(id: string): void;
};

/** More than anybody uses, and few enough to read at once. */
const mostItemsRemembered = 2000;

/** What this machine saw of one service. It is a convenience, so if saving fails, there is no message. */
export function memoryOf(world: World, url: string): Memory {
  const path = join(stateFolder(world), 'seen.json');
  const readAll = () => {
    try {
      return readJsonFile(path) ?? {};
    } catch {
      return {};
    }
  };
  const read = () => new Map(Object.entries((readAll()[url] ?? {}) as Record<string, Saved>));
  const write = (saved: Map<string, Saved>) => {
    try {
      writeJsonFile(path, {
        ...readAll(),
        [url]: Object.fromEntries([...saved].slice(0, mostItemsRemembered)),
      });
    } catch {
      // The next command searches for the id.
    }
  };
  const isSame = (one: string | null, other: string | null) => one?.toLowerCase() === other?.toLowerCase();
  return {
    find(id) {
      const saved = read().get(id.toLowerCase());
      return saved ? { ...saved, id } : null;
    },
    made: ({ owner, repository }) =>
      [...read()]
        .filter(([, { made }]) => made)
        .map(([id, saved]) => ({ ...saved, id }))
        .filter((each) => isSame(each.owner, owner))
        .filter((each) => repository === null || isSame(each.repository, repository)),
    save(items) {
      if (items.length === 0) return;
      const before = read();
      const after = new Map<string, Saved>();
      for (const { id, ...item } of items)
        after.set(id.toLowerCase(), { ...before.get(id.toLowerCase()), ...item });
      for (const [id, saved] of before) if (!after.has(id)) after.set(id, saved);
      write(after);
    },
    forget(id) {
      const saved = read();
      saved.delete(id.toLowerCase());
      write(saved);
    },
  };
}

type Machine = Pick<World, 'env' | 'home' | 'platform'>;

/** The folder of settings: `XDG_CONFIG_HOME`, or `APPDATA` on Windows. */
export const settingsFolder = (machine: Machine): string =>
  folder(machine, { windows: 'APPDATA', xdg: 'XDG_CONFIG_HOME', below: '.config' });

/** The folder of what this machine saw: `XDG_STATE_HOME`, or `LOCALAPPDATA` on Windows. */
export const stateFolder = (machine: Machine): string =>
  folder(machine, { windows: 'LOCALAPPDATA', xdg: 'XDG_STATE_HOME', below: '.local/state' });

function folder(
  { env, home, platform }: Machine,
  { windows, xdg, below }: { windows: keyof Environment; xdg: keyof Environment; below: string },
): string {
  if (platform === 'win32')
    return win32.join(env[windows] ?? win32.join(home, 'AppData', 'Roaming'), 'holdfast');
  const named = env[xdg];
  // The specification of XDG says to ignore relative paths.
  return posix.join(named && posix.isAbsolute(named) ? named : posix.join(home, below), 'holdfast');
}

/** The text of a file that people or programs wrote, without a byte order mark. @throws Stop for UTF-16. */
export function textIn(bytes: Buffer, path: string): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    throw misused(`${path} is in UTF-16, as PowerShell writes it. Save it in UTF-8.`);
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/** The content of a file; null if there is no file. @throws Stop if it is not a JSON object. */
export function readJsonFile(path: string): Record<string, unknown> | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw misused(`${path} cannot be read: ${(error as Error).message}. Give yourself access to it.`);
  }
  const text = textIn(bytes, path);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // The error below says it.
  }
  throw misused(`${path} does not hold a JSON object. Repair it, or delete it.`);
}

/** Replaces the file at once, so that no reader sees half of it. Nobody else can read it. */
export function writeJsonFile(path: string, value: object): void {
  const draft = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
