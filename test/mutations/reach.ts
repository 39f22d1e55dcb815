// Which test file reaches which functions of `src/`, and how long it takes: one run of all tests, for every seed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './choose.ts';
import { withProbes } from './functions.ts';
import type { Mutant } from './mutants.ts';
import { startSession } from './session.ts';
import type { Users } from './users.ts';

/**
 * @property failure why it cannot be used: it fails without a mutant as well.
 * @property reached `file#ordinal` of each function, see `functionsOf`.
 */
export type Reach = { file: string; milliseconds: number; failure: string | null; reached: string[] };

/** Reads the map, or makes it where there is none for these sources. Delete the file when tests changed. */
export async function reachOf(root: string, path: string, sources: Map<string, string>): Promise<Reach[]> {
  const hash = createHash('sha256')
    .update(JSON.stringify([...sources]))
    .digest('hex');
  const kept = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as { hash: string; map: Reach[] })
    : null;
  if (kept?.hash === hash) return kept.map;
  console.error(`All tests run once, for ${path}.`);
  const setupFiles = [join(root, 'test/mutations/record-reach.ts')];
  const session = await startSession(root, { rewrite: withProbes, setupFiles, stopsAtFirst: false });
  const { ran, errors } = await session.run(session.files, [], 7_200_000);
  await session.close();
  for (const error of errors) console.error(`While the map was made: ${error}`);
  const map = ran.map(({ file, milliseconds, state, failure, reached }) => {
    const isWhole = state === 'passed' || state === 'skipped';
    return { file, milliseconds, failure: isWhole ? null : (failure ?? 'It did not end.'), reached };
  });
  writeFileSync(path, JSON.stringify({ hash, map }));
  return map;
}

/**
 * The test files to run against a mutant: the quickest of those that reach its function, until they take longer together
 * than the budget. Those of the folder that mirrors its own are most likely to catch it.
 * @param budget in milliseconds.
 */
export function testsFor(mutant: Mutant, map: Reach[], users: Users, budget: number): Reach[] {
  const { file, within, start } = mutant;
  const mirror = `test/${folderOf(file)}/`;
  const cost = (one: Reach) => one.milliseconds * (one.file.startsWith(mirror) ? 1 / 2 : 1);
  const covering = reachingAny(map, within === null ? new Set() : new Set([`${file}#${within}`]));
  const standing = covering.length > 0 ? covering : reachingAny(map, users(file, start, within));
  const candidates =
    standing.length > 0
      ? standing
      : map.filter(({ reached }) => reached.some((one) => one.startsWith(`${file}#`)));
  let spent = 0;
  return candidates
    .toSorted((a, b) => cost(a) - cost(b))
    .filter(({ milliseconds }, place) => {
      const isAfforded = place < 3 || spent < budget;
      if (isAfforded) spent += milliseconds;
      return isAfforded;
    });
}

const reachingAny = (map: Reach[], functions: Set<string>) =>
  map.filter(({ reached }) => reached.some((one) => functions.has(one)));
