import { beforeAll, expect, inject, test } from 'vitest';
import { gzipSync } from 'node:zlib';
import { acmeForAll } from '../support/acme.ts';
import { addressIn, pathsToOpen } from '../support/page-addresses.ts';
import { expectAtMost, fewestOf, statementsDuring } from '../support/statements.ts';
import { Visitor } from '../support/visitor.ts';

// No page becomes larger or dearer unnoticed: of an owner with thirty repositories, a plan that repeats, an ongoing plan, a
// freeze, a request and a webhook, for an admin, who sees the most.

const acme = acmeForAll();
const ada = new Visitor(acme);
const ids = { freeze: '', plan: '' };

/** Each page that opens here: the most kilobytes that it may have, compressed, and the most statements. */
const budgets: [path: string, kilobytes: number, statements: number][] = [
  ['/', 8, 12],
  ['/owners/:owner/audit', 14, 19],
  ['/owners/:owner/calendar', 12, 7],
  ['/owners/:owner/calendar/subscribe', 6, 5],
  ['/owners/:owner/deployments', 6, 7],
  ['/owners/:owner/exemptions', 7, 9],
  ['/owners/:owner/first-steps', 7, 46],
  ['/owners/:owner/freeze', 9, 4],
  ['/owners/:owner/plans', 6, 5],
  ['/owners/:owner/plans/:plan', 9, 15],
  ['/owners/:owner/plans/:plan/edit', 13, 4],
  ['/owners/:owner/plans/new', 13, 4],
  // With whom its text can be told to.
  ['/owners/:owner/progress', 6, 10],
  ['/owners/:owner/reports', 7, 4],
  ['/owners/:owner/settings', 12, 12],
  ['/owners/:owner/unfreeze', 7, 7],
  // With the requests that wait for the reader, and what was done last.
  ['/repos/:owner', 9, 11],
  ['/repos/:owner/:repository', 10, 14],
  ['/repos/:owner/:repository/audit', 11, 4],
  ['/repos/:owner/:repository/freezes/:id', 9, 9],
  ['/repos/:owner/:repository/pulls/:number', 9, 10],
  ['/repos/:owner/:repository/settings', 8, 4],
];

beforeAll(async () => {
  const { github, call, admin: as } = acme;
  for (let at = 0; at < 29; at++) {
    github.addRepository(`acme/app-${at}`, { protect: { main: ['holdfast/freeze'] } });
    github.openPullRequest(`acme/app-${at}`, { author: 'bob', title: `Change ${at}` });
  }
  await acme.repository('web', [{}, {}, {}], { roles: { bob: 'write' } });
  const body = {
    name: 'Nights',
    reason: 'Nobody is there',
    repositories: { include: ['*'] },
    timezone: 'UTC',
  };
  const window = { start: '2026-03-01T22:00:00', end: '2026-03-02T06:00:00' };
  const plan = async (more: object) => {
    const answer = await call('POST', '/v1/freeze_plans/acme', { as, body: { ...body, ...more } });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.id as string;
  };
  await plan({ ...window, recurrence: { rule: 'FREQ=DAILY' } });
  ids.plan = await plan({ name: 'INC-4711', start: null });
  await acme.quiet();
  ids.freeze = (await acme.freeze('acme/web')).id;
  await call('POST', '/v1/repos/acme/web/pulls/1/exemptions', {
    as: github.addToken('bob'),
    body: { reason: 'A fix' },
  });
  await call('POST', '/v1/webhooks/acme', {
    as,
    body: { kind: 'standard', url: 'https://ops.example/hook' },
  });
  await acme.quiet();
  await ada.signIn('ada');
});

const addresses = pathsToOpen.filter(
  (path) => /^\/(owners|repos)\//.test(path) && !/(\/live|\/)$/.test(path),
);

const addressOf = (path: string) => addressIn(path, ids);

test('every page that opens has a budget', async () => {
  const known = new Set(budgets.map(([path]) => path));
  for (const path of addresses.filter((each) => !known.has(each)))
    expect([path, (await ada.open(addressOf(path))).status]).not.toEqual([path, 200]);
});

test.each(budgets)(
  '%s has at most %i kB and asks at most %i statements',
  async (path, kilobytes, statements) => {
    const open = () => ada.open(addressOf(path));
    const { status, text } = await open();
    expect(status).toBe(200);
    expect(gzipSync(text).length / 1024).toBeLessThan(kilobytes);
    if (!inject('postgresUrl')) return;
    // Once nothing is left to do behind the page.
    await acme.quiet();
    expectAtMost(statements, await fewestOf(() => statementsDuring(open)));
  },
);
