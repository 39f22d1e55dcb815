import { join } from 'node:path';
import type { World } from '../world.ts';
import { settingsFolder } from './folders.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';

/** The file that `holdfast login` writes: the address of Holdfast for each GitHub. It holds no credential. */
export const addressesFile = (world: World): string => join(settingsFolder(world), 'config.json');

/** The address of Holdfast for a GitHub; null if none is saved. @param host such as `github.com`. */
export function addressFor(world: World, host: string): string | null {
  const url = hostsIn(readJsonFile(addressesFile(world)))[host]?.url;
  return typeof url === 'string' ? url : null;
}

/** Saves an address for a GitHub. The others stay. */
export function keepAddress(world: World, host: string, url: string): void {
  const kept = readJsonFile(addressesFile(world)) ?? {};
  writeJsonFile(addressesFile(world), { ...kept, hosts: { ...hostsIn(kept), [host]: { url } } });
}

const hostsIn = (kept: Record<string, unknown> | null) =>
  (kept?.['hosts'] ?? {}) as Record<string, { url?: unknown } | undefined>;
