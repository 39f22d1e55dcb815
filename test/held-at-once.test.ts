import { describe, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { instantHoldsOf } from './support/instant-holds.ts';
import { Visitor } from './support/visitor.ts';
import { passCiOn, queuedIn } from './support/queued.ts';

// Instant holds in the mode `lock`: the ruleset stays until the last freeze ends.
const acme = acmeForAll({}, { lock: true });
const holds = () => instantHoldsOf(acme);

const doctor = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body.findings.filter(
    ({ check }: { check: string }) => check === 'instant_hold',
  );

const off = { mode: 'lock', state: 'off', since: null, error: null };

test('the ruleset is in force before the statuses of a freeze, and out of force before those of its end', async () => {
  const { held, rulesets, instant, writesSince } = holds();
  const web = await held('web', 'lock', [{ labels: ['hotfix'] }, {}]);
  expect(await instant(web)).toEqual(off);
  const begin = acme.github.requests.length;
  const { id } = await acme.freeze(web, { exclude_conditions: ['label=hotfix'], end: '2026-03-02T09:00:00' });
  // Three questions about the ruleset for the first time. Then what is free passes, and then a status says why.
  expect(writesSince(begin)).toEqual([
    ...['GET ruleset 200', 'POST ruleset 201', 'GET ruleset 200'],
    ...['POST status 201', 'POST status 201'],
  ]);
  expect(rulesets(web)).toEqual([
    {
      id: expect.any(Number),
      enforcement: 'active',
      include: ['refs/heads/main', '~DEFAULT_BRANCH'],
      context: expect.stringMatching(/^Frozen until 2026-03-02 09:00 UTC \[[0-9a-f]{8}\]$/),
    },
  ]);
  const { context } = rulesets(web)[0]!;
  expect(acme.github.currentStatus(web, 1, context)).toMatchObject({ state: 'success' });
  expect(acme.github.currentStatus(web, 2, context)).toBeNull();
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked' });
  expect(acme.github.pushDirectly(web, 'main', { person: 'ada' })).toMatch(/Frozen until/);
  const on = { ...off, state: 'on', since: '2026-03-01T09:00:00.000Z' };
  expect(await instant(web)).toEqual(on);
  const of = `/v1/repos/${web}/scheduled_freeze/${id}/enforcement`;
  expect((await acme.call('GET', of, { as: acme.admin })).body.instant).toEqual(on);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const since = /Blocked at once by a ruleset since/;
  expect((await ada.open(`/repos/${web}/freezes/${id}`)).text).toMatch(since);
  expect((await ada.open(`/owners/acme/progress?freeze=${id}`)).text).toMatch(since);
  expect(await doctor(web)).toEqual([
    { check: 'instant_hold', state: 'ok', message: expect.stringMatching(/^A ruleset blocks/), remedy: null },
  ]);

  const end = acme.github.requests.length;
  await acme.remove(web, id);
  expect(writesSince(end)).toEqual(['PUT ruleset 200', 'GET ruleset 200', 'POST status 201']);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean' });
  expect(acme.github.pushDirectly(web, 'main', { person: 'ada' })).toBeNull();
  expect(await instant(web)).toEqual(off);

  const again = acme.github.requests.length;
  await acme.freeze(web, { end: '2026-03-02T09:00:00' });
  expect(writesSince(again).slice(0, 3)).toEqual(['PUT ruleset 200', 'GET ruleset 200', 'POST status 201']);
  // The success of the former freeze means nothing now.
  expect(rulesets(web)[0]!.context).not.toBe(context);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
});

test('the hotfix got through meanwhile', async () => {
  const web = await holds().held('hotfix', 'lock', [{}, {}]);
  await acme.freeze(web);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
  const { id } = await exemptionsOf(acme).exempt(web, 1);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked' });
  // It is held again, also under the context of the ruleset.
  await exemptionsOf(acme).decide('revoke', web, { id });
  acme.github.protect(web, 'main', []);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
  await exemptionsOf(acme).exempt(web, 1);
  expect(acme.github.merge(web, 1)).toMatchObject({ merged: true });
});

test('what was let through and held again does not look unfinished after the freeze', async () => {
  const web = await holds().held('again', 'lock', [{}, {}]);
  const contextNow = () => holds().rulesets(web)[0]!.context!;
  const shown = (context: string, number = 1) =>
    acme.github.currentStatus(web, number, context)?.state ?? null;
  const letThrough = async () => {
    const { id } = await exemptionsOf(acme).exempt(web, 1);
    return () => exemptionsOf(acme).decide('revoke', web, { id });
  };
  const one = await acme.freeze(web);
  const first = contextNow();
  await (
    await letThrough()
  )();
  expect(shown(first)).toBe('pending');
  // Under another context, the former one is finished along.
  const other = await acme.freeze(web, { reason: 'Another' });
  const second = contextNow();
  const revoke = await letThrough();
  expect([shown(first), shown(second)]).toEqual(['success', 'success']);
  await revoke();
  expect(shown(second)).toBe('pending');
  await acme.remove(web, one.id);
  await acme.remove(web, other.id);
  await holds().pass(60);
  expect([first, second, contextNow()].map((context) => shown(context))).toEqual([
    'success',
    'success',
    null,
  ]);
  expect(shown(second, 2)).toBeNull();
  const writes = acme.github.requests.length;
  await holds().pass(120);
  expect(
    holds()
      .writesSince(writes)
      .filter((write) => write.includes('status')),
  ).toEqual([]);
});

test('two freezes, one ends', async () => {
  const { held, rulesets, mergeable } = holds();
  const web = await held('two', 'lock', [{ base: 'main' }, { base: 'release' }, { base: 'other' }]);
  await acme.freeze(web, { matching_conditions: ['base=main'], end: '2026-03-05T09:00:00' });
  expect(rulesets(web)[0]).toMatchObject({ include: ['refs/heads/main'] });
  const both = await acme.freeze(web, { matching_conditions: ['base=release'] });
  expect(rulesets(web)).toEqual([
    {
      id: expect.any(Number),
      enforcement: 'active',
      include: ['refs/heads/main', 'refs/heads/release'],
      context: expect.stringMatching(/^Frozen until removed \(\+1 more\) \[/),
    },
  ]);
  expect(mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked', 3: 'clean' });
  await acme.remove(web, both.id);
  expect(rulesets(web)[0]).toMatchObject({
    enforcement: 'active',
    include: ['refs/heads/main'],
    context: expect.stringMatching(/^Frozen until 2026-03-05 09:00 UTC \[/),
  });
  expect(mergeable(web)).toEqual({ 1: 'blocked', 2: 'clean', 3: 'clean' });
  // Another branch of what a freeze could select.
  await acme.freeze(web, { matching_conditions: ['base~=^hot/'] });
  acme.github.openPullRequest(web, { author: 'ada', base: 'hot/1' });
  await acme.quiet();
  await holds().pass(60);
  expect(rulesets(web)[0]!.include).toEqual(['refs/heads/hot/1', 'refs/heads/main']);
});

describe('a branch that was renamed is followed within a minute', () => {
  const unprotected = (web: string, ...branches: string[]) =>
    branches.forEach((branch) => acme.github.protect(web, branch, []));

  test('by a freeze of everything', async () => {
    const web = await holds().held('renamed', 'lock', [{}, { base: 'release' }, { base: 'release' }]);
    await acme.freeze(web, { exclude_conditions: ['number=3'] });
    unprotected(web, 'main', 'release');
    acme.github.renameBranch(web, 'release', 'release/2');
    acme.github.renameBranch(web, 'main', 'trunk');
    // The default branch is blocked, whatever its name is.
    expect(holds().mergeable(web)).toMatchObject({ 1: 'blocked' });
    await holds().pass(60);
    expect(holds().rulesets(web)).toMatchObject([
      {
        enforcement: 'active',
        include: ['refs/heads/release/2', 'refs/heads/trunk', '~DEFAULT_BRANCH'],
      },
    ]);
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked', 3: 'clean' });
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
    expect(await holds().events(web, 'ruleset.repaired')).toEqual([]);
  });

  test('and is free of a freeze that names it, which the findings say', async () => {
    const web = await holds().held('left', 'lock', [{ base: 'release' }, { base: 'release' }]);
    const { id } = await acme.freeze(web, { matching_conditions: ['base=release'] });
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
    acme.github.renameBranch(web, 'release', 'release/2');
    await holds().pass(60);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean' });
    expect(acme.frozen(web)).toEqual([]);
    const { findings } = (await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin })).body;
    expect(findings).toContainEqual(
      expect.objectContaining({
        branch: 'release',
        state: 'failed',
        message: expect.stringContaining(
          'there is no such branch any more, and GitHub leads from it to release/2',
        ),
      }),
    );
    await acme.remove(web, id);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  });
});

test('a branch that is the head of a pull request takes pushes', async () => {
  const web = await holds().held('chained', 'lock', [{ head: 'one' }, { head: 'two', base: 'one' }]);
  await acme.freeze(web);
  expect(holds().rulesets(web)[0]!.include).toEqual(['refs/heads/main', '~DEFAULT_BRANCH']);
  expect(acme.github.pushDirectly(web, 'one', { person: 'ada' })).toBeNull();
});

test('a freeze of deployments puts nothing in force, nor does one without the setting', async () => {
  const web = await holds().held('ships', 'lock', [{}]);
  await acme.freeze(web, { holds: ['deployments'] });
  expect(holds().rulesets(web)).toEqual([]);
  await holds().set(web, 'off');
  await acme.freeze(web);
  expect(holds().rulesets(web)).toEqual([]);
  // It counts at once, both ways.
  await holds().set(web, 'lock');
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  expect(holds().mergeable(web)).toEqual({ 1: 'blocked' });
  await holds().set(web, null);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
});

test('merge groups get the context at once', async () => {
  const web = await queuedIn(acme, 'queued', [{ labels: ['hotfix'] }, {}]);
  await holds().set(web, 'lock');
  const { id } = await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  const [group] = acme.github.mergeQueue(web, 'main');
  expect(
    acme.github.statusHistory(web, group!.headSha!).map(({ context, state }) => [context, state]),
  ).toEqual(expect.arrayContaining([[holds().rulesets(web)[0]!.context, 'success']]));
  passCiOn(acme, web, group!.headSha!);
  await acme.quiet();
  expect(acme.github.pullRequest(web, 1).state).toBe('merged');
  await acme.remove(web, id);
});

test('who switches it on reads whom it refuses', async () => {
  const web = await acme.repository('pushed', [{}, { base: 'release' }]);
  expect(acme.github.pushDirectly(web, 'main', { person: 'bob' })).toBeNull();
  await acme.advanceTo(new Date(acme.clock.now() + 8 * 86_400_000));
  expect(acme.github.pushDirectly(web, 'release', { person: 'ada' })).toBeNull();
  acme.github.addRuleset(web, {
    include: ['refs/heads/else'],
    bypass: [{ actor_type: 'Integration', actor_id: 7 }, { actor_type: 'OrganizationAdmin' }],
  });
  const { body } = await holds().set(web, 'lock');
  const said = [
    expect.stringMatching(/refuses direct pushes .* release bots\. Merge groups/),
    'Pushed directly to main, release in the last week: ada.',
    'These can bypass other rulesets of the repository, but not this one: the App 7, organization owners.',
    expect.stringMatching(/^Nobody can bypass it\. .* where the first freeze creates it\./),
  ];
  expect(body.warnings).toEqual(said);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  expect((await ada.open(`/repos/${web}/settings`)).text).toContain(said[1]);
  await acme.freeze(web);
  acme.github.editRuleset(holds().rulesets(web).at(-1)!.id, {
    bypassActors: [{ actor_type: 'Integration', actor_id: 7, bypass_mode: 'always' }],
  });
  await holds().pass(60);
  const { warnings } = (await holds().set(web, 'bridge')).body;
  expect(warnings.slice(2)).toEqual([
    'These can bypass other rulesets of the repository, but not this one: organization owners.',
    expect.stringMatching(
      /^These can bypass it: the App 7\. To let somebody push, .*\/settings\/rules\/\d+\./,
    ),
  ]);
  // What GitHub does not show is not known.
  acme.github.acceptPermissions('acme', { metadata: 'read' }, { second: true });
  const others = { as: acme.admin, body: { instant_hold: 'lock' } };
  const answer = await acme.call('PATCH', `/v1/repos/${web}/settings`, others);
  expect(answer.body.warnings[2]).toBe(
    'Holdfast cannot tell who can bypass other rulesets of the repository: GitHub does not show it to the second App.',
  );
  acme.github.acceptPermissions('acme', { metadata: 'read', administration: 'write' }, { second: true });
});
