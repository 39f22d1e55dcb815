import { readdirSync, readFileSync } from 'node:fs';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { withGeneratedCommands } from '../../docs/write-commands.ts';
import { replayedFor } from '../../src/api/idempotency.ts';
import { allCommands } from '../../src/cli/program.ts';
import { worldVariables as variablesOfCommands } from '../../src/cli/world.ts';
import { systemClock } from '../../src/time/clock.ts';
import { retentionDays } from '../../src/events/list-events.ts';
import type { SetupDeps } from '../../src/server/setup/finish-setup.ts';
import { SetupCode } from '../../src/server/setup/admission.ts';
import { setupRoutes } from '../../src/server/setup/create-setup.ts';
import { addressesOfForms } from '../../src/pages/mount-pages.ts';
import { sessionSeconds } from '../../src/auth/sign-in/sessions.ts';
import { routes as allRoutes } from '../support/page-addresses.ts';
import { between, documentAt, pages, rowsOf } from './documents.ts';
import { namesIn, sources } from './source-texts.ts';

const unique = (all: string[]) => [...new Set(all)];

// The documentation has everything that you can call, set or run, and nothing else. The lists come from the code.

describe('addresses', () => {
  const log = pino({ level: 'silent' });
  const config = { publicUrl: 'https://holdfast.example', githubApiUrl: 'https://api.github.com' };
  type Route = { method: string; path: string };
  const shown = ({ method, path }: Route) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;
  /** Without middleware. */
  const routesOf = (app: { routes: Route[] }, prefix = '') =>
    app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => shown({ method, path: (prefix + path).replace(/(.)\/$/, '$1') }));

  const keys = { secretKey: null, secretKeyPrevious: null };
  const setup = { config: { ...config, ...keys }, clock: systemClock, log, secretKey: null } as SetupDeps;
  const served = unique([
    ...routesOf({ routes: allRoutes }),
    ...routesOf(setupRoutes(setup, new SetupCode(systemClock, () => {})), '/setup'),
  ]);
  const isInterface = (route: string) => / \/v1\//.test(route) && !route.endsWith('openapi.json');
  const documented = (text: string) =>
    [...text.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^\s`]*)`/g)].map(([, route]) => route!);

  test('every route of the interface is shown, and no other', () => {
    const routes = served.filter(isInterface);
    expect(routes.length).toBeGreaterThan(15);
    const listed = new Set(documented(documentAt('docs/routes.md')).filter(isInterface));
    expect([...listed].toSorted()).toEqual(routes.toSorted());
  });

  test('every other address is in the table of docs/pages.md, and no other', () => {
    const table = between(documentAt('docs/pages.md'), '<!-- addresses -->', '<!-- /addresses -->');
    const leadsToPage = new Set(addressesOfForms.map(({ path }) => shown({ method: 'GET', path })));
    const others = served.filter((route) => !isInterface(route) && !leadsToPage.has(route));
    expect(others.length).toBeGreaterThan(15);
    expect(documented(table).toSorted()).toEqual(others.toSorted());
  });

  test('what any page calls exists', () => {
    // GitHub's own are written with `…` or below /repos without /v1.
    const called = pages.flatMap((page) =>
      documented(documentAt(page))
        .map((route) => route.split('?')[0]!)
        .filter((route) => !route.includes('…')),
    );
    const ofGitHub = ['GET /user', 'GET /app/hook/deliveries', 'GET /meta'];
    const known = new Set([...served, ...ofGitHub]);
    expect(called.length).toBeGreaterThan(50);
    expect(unique(called).filter((route) => !known.has(route))).toEqual([]);
  });
});

describe('variables', () => {
  const inTables = new Set(
    pages.flatMap((page) =>
      rowsOf(documentAt(page)).flatMap(([cell]) => /^`([A-Z][A-Z0-9_]+)`$/.exec(cell ?? '')?.[1] ?? []),
    ),
  );

  test('only config.ts and the world of the commands read the environment', () => {
    const bin = readdirSync(new URL('../../bin/', import.meta.url)).map(
      (name) => [`bin/${name}`, readFileSync(new URL(`../../bin/${name}`, import.meta.url), 'utf8')] as const,
    );
    const files = [...[...sources].map(([path, file]) => [path, file.text] as const), ...bin];
    const readers = files.filter(([, text]) =>
      /\bprocess\s*(?:\.\s*env|\[)|loadEnvFile|\{[^}]*\benv\b[^}]*\}\s*=\s*process/.test(text),
    );
    expect(readers.map(([path]) => path)).toEqual(['cli/world.ts', 'config.ts']);
  });

  test('every variable is explained in a table, and no other', () => {
    // Names of variables are the only names in capitals there.
    const ofService = namesIn('config.ts').filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name));
    const read = unique([...ofService, ...Object.keys(variablesOfCommands)]);
    expect(read.length).toBeGreaterThan(20);
    expect([...inTables].toSorted()).toEqual(read.toSorted());
  });
});

describe('commands', () => {
  test('every command, option and example on the page agrees with the code (`npm run docs`)', async () => {
    const page = documentAt('docs/command-line.md');
    expect((await allCommands()).length).toBeGreaterThan(15);
    expect(await withGeneratedCommands(page)).toBe(page);
  });

  test('no npx command could fetch a package of a stranger', () => {
    const told = [
      ...pages.map(documentAt),
      documentAt('demo/demo-output.ts'),
      ...[...sources.values()].map(({ text }) => text),
    ];
    const calls = told.flatMap((text) => [...text.matchAll(/\bnpx (\S+ \S+)/g)].map(([, words]) => words!));
    expect(calls.length).toBeGreaterThan(5);
    expect(unique(calls.map((words) => words.replace(/[`.,:;)]+$/, '')))).toEqual(['--no-install holdfast']);
  });

  test('every script of npm is explained', () => {
    const { scripts } = JSON.parse(documentAt('package.json')) as { scripts: Record<string, string> };
    const documents = documentAt('README.md') + documentAt('CONTRIBUTING.md');
    const run = (name: string) => (['start', 'test'].includes(name) ? `npm ${name}` : `npm run ${name}`);
    // npm runs that one by itself.
    const names = Object.keys(scripts).filter((name) => name !== 'posttest');
    expect(names.filter((name) => !documents.includes(`\`${run(name)}`))).toEqual([]);
  });
});

describe('what is stored', () => {
  const tables = [...documentAt('prisma/schema.prisma').matchAll(/@@map\("(\w+)"\)/g)].map(
    ([, name]) => name!,
  );
  const rows = (page: string, from: string, to: string) =>
    rowsOf(between(documentAt(page), from, to)).map(([names, ...cells]) => ({
      names: [...names!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
      text: cells.join(' '),
    }));

  test.each([
    ['docs/security.md', '## What is stored', '\nHoldfast reads titles'],
    ['docs/how-it-works.md', '## Tables', '\n## Jobs'],
  ])('%s has every table, and no other', (page, from, to) => {
    const named = rows(page, from, to).flatMap(({ names }) => names);
    expect(named.toSorted()).toEqual(tables.toSorted());
  });

  test('the times that data is kept agree with the code', () => {
    const kept = (table: string) =>
      rows('docs/security.md', '## What is stored', '\nHoldfast reads titles').find(({ names }) =>
        names.includes(table),
      )!.text;
    expect(kept('audit_events')).toContain(`${retentionDays} days`);
    expect(kept('idempotency_records')).toContain(`${replayedFor / 3_600_000} hours`);
    expect(kept('sessions')).toContain(`${sessionSeconds / 3600} hours`);
  });
});

describe('links', () => {
  const anchorsOf = (page: string) =>
    [...documentAt(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s/g, '-'),
    );
  const linksOf = (page: string) =>
    [...documentAt(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link]) => link!);

  test.each(pages)('those of %s lead somewhere', (page) => {
    for (const link of linksOf(page)) {
      const { pathname, hash } = new URL(link, `file:///${page}`);
      const target = pathname.slice(1);
      const isFolder = target.endsWith('/');
      if (!isFolder) expect(() => documentAt(target), `${page} → ${link}`).not.toThrow();
      if (hash) expect(anchorsOf(target), `${page} → ${link}`).toContain(hash.slice(1));
    }
  });

  test('README leads to every page', () => {
    const linked = linksOf('README.md');
    const all = pages.filter((page) => !page.startsWith('docs/decisions/') && page !== 'README.md');
    expect(all.filter((page) => !linked.includes(page))).toEqual([]);
  });
});
