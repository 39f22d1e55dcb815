// The mutants of a seed: the same ones every time, spread over the folders of `src/` and over the kinds.
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apply, isValid, type Kind, kinds, type Mutant, mutantsOf } from './mutants.ts';

/** The text of each TypeScript file below `src/` that people write, by its path. */
export function readSources(root: string): Map<string, string> {
  const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
  const written = files.filter((file) => !file.startsWith('src/generated/')).sort();
  return new Map(written.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** The files of `src/` itself count as one folder. */
export const folderOf = (file: string): string => (file.split('/').length > 2 ? file.split('/')[1]! : '.');

/**
 * A mutant's rank hangs on its own text alone. So a seed chooses nearly the same mutants after unrelated changes.
 */
export function chooseMutants(sources: Map<string, string>, seed: string, count: number): Mutant[] {
  const folders = Object.groupBy(sources.keys(), folderOf) as Record<string, string[]>;
  const candidates = new Map(
    Object.entries(folders).map(([folder, files]) => [
      folder,
      files.flatMap((file) => mutantsOf(file, sources.get(file)!)),
    ]),
  );
  const lines = (folder: string) =>
    folders[folder]!.reduce((sum, file) => sum + sources.get(file)!.split('\n').length, 0);
  const shares = share(
    count,
    [...candidates].map(([folder, { length }]) => ({ folder, lines: lines(folder), most: length })),
  );
  return [...candidates].flatMap(([folder, all]) => {
    const queue = kindByKind(all, seed, folder);
    return queue.filter(validIn(sources)).take(shares.get(folder)!).toArray();
  });
}

/** At least two for each folder, the rest by lines: the next one always goes to the folder that lags behind most. */
function share(count: number, folders: { folder: string; lines: number; most: number }[]) {
  const shares = new Map(folders.map(({ folder, most }) => [folder, Math.min(2, most)]));
  const all = folders.reduce((sum, { lines }) => sum + lines, 0);
  let left = count - [...shares.values()].reduce((sum, one) => sum + one, 0);
  for (; left > 0; left--) {
    const open = folders.filter(({ folder, most }) => shares.get(folder)! < most);
    if (open.length === 0) break;
    const lag = ({ folder, lines }: (typeof folders)[number]) => (count * lines) / all - shares.get(folder)!;
    const { folder } = open.reduce((worst, one) => (lag(one) > lag(worst) ? one : worst));
    shares.set(folder, shares.get(folder)! + 1);
  }
  return shares;
}

/** One of each kind in turn. Each folder begins with another kind, so that small folders do not all have the same. */
function* kindByKind(all: Mutant[], seed: string, folder: string): Generator<Mutant, void, undefined> {
  const byRank = <T>(values: readonly T[], key: (value: T) => string) =>
    values.toSorted((a, b) => (rank(seed, key(a)) < rank(seed, key(b)) ? -1 : 1));
  const queues = byRank(kinds, (kind: Kind) => `${folder} ${kind}`).map((kind) =>
    byRank(
      all.filter((mutant) => mutant.kind === kind),
      ({ id }) => id,
    ),
  );
  for (let turn = 0; queues.some((queue) => turn < queue.length); turn++)
    for (const queue of queues) if (turn < queue.length) yield queue[turn]!;
}

const rank = (seed: string, key: string) => createHash('sha256').update(`${seed} ${key}`).digest('hex');

const validIn = (sources: Map<string, string>) => (mutant: Mutant) =>
  isValid(apply(sources.get(mutant.file)!, mutant));
