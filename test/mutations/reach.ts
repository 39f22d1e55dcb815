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

/**
 * Reads the map, and runs what it does not know: test files that changed, or that reach a file of `src/` that changed.
 * @param path where the map is kept.
 */
export async function reachOf(root: string, path: string, sources: Map<string, string>): Promise<Reach[]> {
  const texts = new Map(sources);
  const textOf = (file: string) => {
    if (!texts.has(file)) texts.set(file, existsSync(file) ? readFileSync(file, 'utf8') : '');
    return texts.get(file)!;
  };
  /** Of what a test file hangs on. What all of them hang on, such as the sandbox, counts for nothing here. */
  const hashOf = ({ file, reached }: Pick<Reach, 'file' | 'reached'>) => {
    const files = [...new Set(reached.map((each) => each.split('#')[0]!)), file].sort();
    return createHash('sha256')
      .update(JSON.stringify(files.map(textOf)))
      .digest('hex');
  };
  type Kept = Reach & { hash: string };
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept[]) : [];
  const known = kept.filter((each) => each.failure === null && each.hash === hashOf(each));
  const setupFiles = [join(root, 'test/mutations/record-reach.ts')];
  const session = await startSession(root, { setupFiles, stopsAtFirst: false });
  const isKnown = new Set(known.map(({ file }) => file));
  const files = session.files.filter((file) => !isKnown.has(file));
  if (files.length > 0) console.error(`${files.length} test files run once, for ${path}.`);
  const probed = new Map([...sources].map(([file, text]) => [file, withProbes(file, text)]));
  const exists = new Set(session.files);
  const map: Reach[] = known.filter(({ file }) => exists.has(file));
  // A worker that ran hundreds of files is slow. What is known is kept at once, so that a run that ended goes on here.
  for (let at = 0; at < files.length; at += filesAtOnce) {
    const { ran, errors } = await session.run(files.slice(at, at + filesAtOnce), probed, 7_200_000);
    for (const error of errors) console.error(`While the map was made: ${error}`);
    for (const { file, milliseconds, state, failure, reached } of ran) {
      const isWhole = state === 'passed' || state === 'skipped';
      map.push({ file, milliseconds, failure: isWhole ? null : (failure ?? 'It did not end.'), reached });
    }
    writeFileSync(path, JSON.stringify(map.map((each) => ({ ...each, hash: hashOf(each) }))));
    console.error(`${Math.min(at + filesAtOnce, files.length)} of ${files.length}`);
  }
  await session.close();
  return map;
}

const filesAtOnce = 20;

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
