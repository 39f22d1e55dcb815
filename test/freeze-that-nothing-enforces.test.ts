import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { shortenPatience } from './support/patience.ts';

const acme = acmeForAll();
// Only the last test is about how long it waits.
beforeEach(({ task }) => {
  if (task.name.startsWith('it waits a little')) shortenPatience();
  else vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
});
afterEach(() => {
  vi.restoreAllMocks();
  acme.github.comeBack();
  acme.github.faults.clear();
});

const context = 'holdfast/freeze';

async function freeze(repository: string, more: object = {}, headers: Record<string, string> = {}) {
  const body = { reason: 'Release', start: null, timezone: 'UTC', ...more };
  const path = `/v1/repos/${repository}/scheduled_freeze`;
  const answer = await acme.call('POST', path, { as: acme.admin, body, headers });
  expect(answer.status, answer.text).toBe(201);
  const warnings = answer.headers.get('warning') ?? '';
  return { ...answer, warning: /299 holdfast "Nothing enforces(?:[^"\\]|\\.)*"/.exec(warnings)?.[0] ?? null };
}

const events = (repository: string) => acme.events(repository, 'freeze.not_enforced');

test('it is made, with a warning that names the branch and where to look, and an event', async () => {
  const web = await acme.repository('web', [{}], { protect: {} });
  const made = await freeze(web);
  expect(made.warning).toBe(
    '299 holdfast "Nothing enforces this freeze on main: holdfast/freeze is not required there, or not from Holdfast. ' +
      'See https://holdfast.example/v1/repos/acme/web/enforcement"',
  );
  expect(await events(web)).toMatchObject([
    {
      type: 'freeze.not_enforced',
      outcome: 'failure',
      trigger: 'api',
      metadata: {
        scheduled_freeze_id: made.body.id,
        branches: ['main'],
        context,
        created_by: { type: 'application', name: 'admin key' },
      },
    },
  ]);
});

test('an enforced one has neither', async () => {
  const lib = await acme.repository('lib', [{}]);
  expect((await freeze(lib)).warning).toBeNull();
  expect(await events(lib)).toEqual([]);
});

test('only the branches that it can touch count', async () => {
  const api = await acme.repository('api', [
    { base: 'next' },
    { base: 'old' },
    { base: 'older' },
    { base: 'v"1' },
  ]);
  const named = (warning: string | null) => /on (.*): holdfast/.exec(warning!)?.[1];
  expect((await freeze(api, { matching_conditions: ['base=main'] })).warning).toBeNull();
  expect(
    (await freeze(api, { matching_conditions: [{ or: ['base=main', 'base=release'] }] })).warning,
  ).toBeNull();
  expect(named((await freeze(api, { matching_conditions: ['label=x', 'base=next'] })).warning)).toBe('next');
  expect(
    (await freeze(api, { matching_conditions: ['base=next'], exclude_conditions: ['base=next'] })).warning,
  ).toBeNull();
  expect(
    named(
      (
        await freeze(api, {
          matching_conditions: ['base=next'],
          exclude_conditions: ['base=next', 'label=x'],
        })
      ).warning,
    ),
  ).toBe('next');
  expect(named((await freeze(api)).warning)).toBe('v\\"1, older, old, 1 more');
});

test('a replayed answer warns as the first one did, and there is one event', async () => {
  const site = await acme.repository('site', [], { protect: {} });
  const key = { 'Idempotency-Key': 'once' };
  const body = { start: '2026-05-01T00:00:00' };
  const [first, again] = [await freeze(site, body, key), await freeze(site, body, key)];
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.warning).toBe(first.warning);
  expect(again.warning).toContain('on main');
  expect(await events(site)).toHaveLength(1);
});

test('it checks once in ten seconds, or once a minute if nothing is missing', async () => {
  const shop = await acme.repository('shop', [], { protect: {} });
  const asked = () =>
    acme.github.requests.filter(({ path }) => path.startsWith('/repos/acme/shop/rules/branches/main')).length;
  await freeze(shop);
  await freeze(shop);
  expect(asked()).toBe(1);
  acme.github.protect(shop, 'main', [context]);
  const pass = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));
  // Whoever was warned has mended it.
  await pass(10);
  expect((await freeze(shop)).warning).toBeNull();
  expect(asked()).toBe(2);
  await pass(59);
  await freeze(shop);
  expect(asked()).toBe(2);
  await pass(1);
  await freeze(shop);
  expect(asked()).toBe(3);
});

test.each(['502', 'reset'] as const)('GitHub being down (%s) warns of nothing', async (how) => {
  const down = await acme.repository(`down-${how}`, [], { protect: {} });
  acme.github.goDown(how);
  expect((await freeze(down)).warning).toBeNull();
});

test('it waits a little for a slow GitHub, once', async () => {
  const slow = await acme.repository('slow', [], { protect: {} });
  const rules = /^\/repos\/acme\/slow\/rules\/branches\//;
  acme.github.faults.add({ kind: 'delay', ms: 60_000, match: { path: rules } });
  expect((await freeze(slow)).warning).toBeNull();
  expect((await freeze(slow)).warning).toBeNull();
  expect(acme.github.requests.filter(({ path }) => rules.test(path))).toHaveLength(1);
});
