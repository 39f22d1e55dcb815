import { join } from 'node:path';
import type { World } from '../world.ts';
import { stateFolder } from './folders.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';

export type Kind = 'freeze' | 'plan' | 'exemption';

/** The place of something with an id, when this machine last saw it. */
export type Place = { kind: Kind; owner: string; repository: string | null };

/** @property made whether `holdfast freeze` made it on this machine, and nobody ended it on this machine. */
type Entry = Place & { made?: true };

/** The service cannot find an id without its place, so this saves the places. */
export type Seen = {
  find(id: string): Place | null;
  /** What `holdfast freeze` made on this machine in this place. */
  made(owner: string, repository: string | null): (Place & { id: string })[];
  /** Saves some, the newest first. One that was saved as made here stays so. */
  keep(entries: (Entry & { id: string })[]): void;
  forget(ids: string[]): void;
};

/** More than anybody uses, and few enough to read at once. */
const most = 2000;

/** What this machine saw of one service. It is a convenience, so if saving fails, there is no message. */
export function seenAt(world: World, url: string): Seen {
  const path = join(stateFolder(world), 'seen.json');
  const readAll = () => {
    try {
      return readJsonFile(path) ?? {};
    } catch {
      return {};
    }
  };
  const read = () => (readAll()[url] ?? {}) as Record<string, Entry>;
  const write = (entries: Record<string, Entry>) => {
    try {
      writeJsonFile(path, { ...readAll(), [url]: entries });
    } catch {
      // The next command asks for the place of the id.
    }
  };
  const isSame = (one: string | null, other: string | null) => one?.toLowerCase() === other?.toLowerCase();
  return {
    find: (id) => read()[id.toLowerCase()] ?? null,
    made: (owner, repository) =>
      Object.entries(read())
        .filter(
          ([, entry]) =>
            entry.made &&
            isSame(entry.owner, owner) &&
            (repository === null || isSame(entry.repository, repository)),
        )
        .map(([id, { kind, owner, repository }]) => ({ id, kind, owner, repository })),
    keep(entries) {
      if (entries.length === 0) return;
      const before = read();
      const news = entries.map(({ id, ...entry }) => {
        const key = id.toLowerCase();
        return [key, { ...entry, ...(before[key]?.made && { made: true as const }) }] as const;
      });
      const fresh = Object.fromEntries(news);
      const rest = Object.entries(before).filter(([id]) => !(id in fresh));
      write(Object.fromEntries([...news, ...rest].slice(0, most)));
    },
    forget(ids) {
      const gone = new Set(ids.map((id) => id.toLowerCase()));
      write(Object.fromEntries(Object.entries(read()).filter(([id]) => !gone.has(id))));
    },
  };
}
