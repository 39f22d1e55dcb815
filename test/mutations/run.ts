// How many small faults in `src/` the tests notice:
//
//   node test/mutations/run.ts --seed=1 --count=150 --out=mutations.jsonl
//
// Each mutant runs against the test files that reach it. A run that was ended continues where it stopped.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chooseMutants, folderOf, readSources } from './choose.ts';
import { equivalent } from './equivalent.ts';
import { apply, type Mutant } from './mutants.ts';
import { type Reach, reachOf, testsFor } from './reach.ts';
import { startSession } from './session.ts';
import { usersIn } from './users.ts';

/** What cannot be loaded is no fault that anybody could commit. It does not count. */
type Verdict = 'caught' | 'survived' | 'not covered' | 'broken';
/** A line of the file of results. @property by the test file that failed; @property tests how many were to run. */
type Result = Pick<Mutant, 'id' | 'file' | 'line' | 'kind' | 'from' | 'to'> & {
  verdict: Verdict;
  by: string | null;
  why: string | null;
  tests: number;
  /** How many test files reach it. Where they are more than `tests`, a larger budget may catch it. */
  reaching: number;
  seconds: number;
};

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '150' },
    /** Seconds for the tests of one mutant. */
    budget: { type: 'string', default: '20' },
    /** Where it is kept which test reaches what. */
    map: { type: 'string', default: 'node_modules/.cache/reach.json' },
    out: { type: 'string', default: 'node_modules/.cache/mutations.jsonl' },
    only: { type: 'string' },
    /** 1/2: the first, third, fifth… mutant. */
    part: { type: 'string', default: '1/1' },
  },
});
const root = process.cwd();
const sources = readSources(root);
const users = usersIn(sources);
const map = await reachOf(root, values.map, sources);
for (const { file, failure } of map) if (failure) console.log(`${file} fails by itself: ${failure}`);
const sound = map.filter(({ failure }) => failure === null);

const [part, parts] = values.part.split('/').map(Number) as [number, number];
const mutants = chooseMutants(sources, values.seed, Number(values.count)).filter(({ id }, place) =>
  values.only ? id === values.only : place % parts === part - 1,
);
const known = resultsOf(values.out);
for (const { id, file, line } of mutants)
  if (equivalent.has(id)) console.log(`${id} ${file}:${line} changes nothing: ${equivalent.get(id)}`);
const left = mutants.filter(({ id }) => values.only || !(known.has(id) || equivalent.has(id)));
const session = await startSession(root, { stopsAtFirst: true });

for (const [place, mutant] of left.entries()) {
  const reaching = testsFor(mutant, sound, users, Infinity).length;
  const tests = testsFor(mutant, sound, users, Number(values.budget) * 1000);
  const result = { ...(await tried(mutant, tests)), reaching };
  known.set(mutant.id, result);
  appendFileSync(values.out, `${JSON.stringify(result)}\n`);
  console.log(`${mutants.length - left.length + place + 1}/${mutants.length} ${told(result)}`);
}
await session.close();
const chosen = mutants.filter(({ id }) => !equivalent.has(id));
const counted = chosen.map(({ id }) => known.get(id)!).filter(({ verdict }) => verdict !== 'broken');
console.log(JSON.stringify({ ...summed(counted), changeNothing: mutants.length - chosen.length }, null, 2));
// What a killed worker left behind keeps nobody waiting.
process.exit();

async function tried(mutant: Mutant, tests: Reach[]): Promise<Omit<Result, 'reaching'>> {
  const { id, file, line, kind, from, to } = mutant;
  const about = { id, file, line, kind, from, to, tests: tests.length };
  if (tests.length === 0) return { ...about, verdict: 'not covered', by: null, why: null, seconds: 0 };
  const rewritten = new Map([[file, apply(sources.get(file)!, mutant)]]);
  const started = Date.now();
  const files = tests.map((one) => one.file);
  const attempt = async () => {
    const { ran, errors, isTimeout } = await session.run(files, rewritten, patienceFor(tests));
    const failed = ran.find(({ state }) => state === 'failed');
    const why = failed?.failure ?? errors[0] ?? (isTimeout ? 'It took too long.' : null);
    const isWhole = ran.length >= files.length && ran.every(({ state }) => state !== 'unfinished');
    // No verdict on the mutant. Started again, the run continues here.
    if (why === null ? !isWhole : /Failed to start|Timeout starting/.test(why))
      throw new Error(`The tests did not run: ${why ?? files.join(', ')}`);
    return { by: failed?.file ?? null, why };
  };
  let { by, why } = await attempt();
  // On a busy machine tests time out without a fault. With one, they do so again.
  if (why !== null && /timed out|took too long/.test(why)) ({ by, why } = await attempt());
  const seconds = Math.round((Date.now() - started) / 100) / 10;
  const verdict = why === null ? 'survived' : /SyntaxError|strip-only mode/.test(why) ? 'broken' : 'caught';
  return { ...about, verdict, by, why, seconds };
}

/** A new worker loads all modules anew. */
function patienceFor(tests: Reach[]): number {
  const loading = 10_000;
  return 4 * (loading + tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0)) + 30_000;
}

function resultsOf(path: string): Map<string, Result> {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const results = lines.map((line) => JSON.parse(line) as Result);
  return new Map(results.map((result) => [result.id, result]));
}

function told({
  id,
  file,
  line,
  kind,
  from,
  to,
  verdict,
  by,
  why,
  seconds,
  tests,
  reaching,
}: Result): string {
  const change = `${brief(from, to)} → ${brief(to, from)}`;
  const ending =
    verdict === 'caught' ? `caught by ${by ?? why}` : `${verdict} (${tests} of ${reaching} test files)`;
  return `${id} ${file}:${line} ${kind}: ${change}: ${ending}, ${seconds} s`;
}

/** What two texts do not have in common, with what stands around it. */
function brief(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  const shown = text.slice(Math.max(0, at - 40), at + 60).replace(/\s+/g, ' ');
  return shown.trim();
}

function summed(results: Result[]) {
  const rate = (some: Result[]) => {
    const caught = some.filter(({ verdict }) => verdict === 'caught').length;
    return { caught, of: some.length, rate: Math.round((1000 * caught) / some.length) / 10 };
  };
  const by = (key: (result: Result) => string) =>
    Object.fromEntries(
      Object.entries(Object.groupBy(results, key)).map(([name, some]) => [name, rate(some!)]),
    );
  return {
    seed: values.seed,
    budget: Number(values.budget),
    ...rate(results),
    survivedOnlySome: results.filter(
      ({ verdict, tests, reaching }) => verdict === 'survived' && tests < reaching,
    ).length,
    byKind: by(({ kind }) => kind),
    byFolder: by(({ file }) => folderOf(file)),
    byVerdict: Object.fromEntries(
      Object.entries(Object.groupBy(results, ({ verdict }) => verdict)).map(([name, some]) => [
        name,
        some!.length,
      ]),
    ),
  };
}
