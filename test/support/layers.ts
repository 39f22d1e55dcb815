// Which tests run where. CONTRIBUTING.md has a line for each layer, and package.json a script.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const below = (folder: string): string => `test/${folder}/**/*.test.ts`;

/** Layers that start processes of their own. */
export const processes = ['processes', 'upgrade'].map(below);
export const browser = [below('browser')];
export const faults = [below('faults')];
/** What judges the recordings of other layers. */
export const descriptions = [below('descriptions')];

/** What neither a kind of database nor a changed rule can break: they run once, in CI. */
const once = ['actions', 'deploy', 'docs', 'fuzz', 'outside', 'prove', 'recorded', 'sandbox', 'shells'].map(
  below,
);
/** What is done to databases as a whole. */
const databases = ['server/archive', 'database'].map(below);
/** Strangers, floods, faults and races: each story makes much, or waits for what is slow. */
const hostile = [below('hostile')];
export const rest = [...hostile, ...once, ...databases];

const apart = [...processes, ...browser, ...faults, ...descriptions];
/** What a developer waits for: pure tests, stories and contracts. */
export const usual = {
  include: ['test/**/*.test.ts'],
  exclude: [...apart, ...rest, 'node_modules/**'],
};

/** What changes of `src/` can break without processes of its own: the script of mutations runs them. */
export const inProcess = { include: usual.include, exclude: [...apart, 'node_modules/**'] };

/** The files that a kind of database can break. The command line knows only the API. */
export const onDatabase = (): string[] =>
  globSync(usual.include, { exclude: [...apart, ...once, below('cli')] })
    .filter((file) => opensDatabase(file))
    .sort();

/** Whether a test, or what it imports from the tests, asks for a database of the run. */
function opensDatabase(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || !file.startsWith('test')) return false;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  if (/\binject\('(postgresUrl|pgliteImage)'\)/.test(text)) return true;
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => join(dirname(file), path!));
  return imported.some((each) => opensDatabase(each, seen));
}
