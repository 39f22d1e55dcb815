import { describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { instantHoldsOf } from '../support/instant-holds.ts';
import { lookFaster } from '../support/patience.ts';

// Instant holds while the second App cannot do what it should.
const acme = acmeForAll({}, { lock: true });
const holds = () => instantHoldsOf(acme);
const ofRulesets = { path: /\/rulesets/ };
const uninstall = () => {
  acme.github.uninstall('acme', { second: true });
  acme.app.deps.github.lock.forget('acme');
};
const administration = { metadata: 'read', administration: 'write' } as const;

test('the second App was uninstalled in the middle', async () => {
  const web = await holds().held('uninstalled', 'lock', [{ labels: ['hotfix'] }, {}]);
  const freeze = await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
  const id = holds().idOf(web);
  uninstall();
  await holds().pass(60);
  const isInForce = {
    mode: 'lock',
    state: 'unavailable',
    since: expect.any(String),
    error: expect.stringContaining(`disable it at ${acme.github.url}/acme/uninstalled/settings/rules/${id}`),
  };
  expect(await holds().instant(web)).toEqual(isInForce);
  // Whatever no freeze holds gets through, also what is opened from now on.
  acme.github.openPullRequest(web, { author: 'bob', labels: ['hotfix'] });
  await acme.quiet();
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked', 3: 'clean' });
  // Each check tries again, and writes nothing for a ruleset that it cannot change.
  const other = await acme.freeze(web, { reason: 'Another one', exclude_conditions: ['label=hotfix'] });
  await holds().pass(60);
  const start = acme.github.requests.length;
  await holds().pass(180);
  expect(holds().writesSince(start)).not.toContain('POST status 201');
  await acme.remove(web, other.id);
  await acme.remove(web, freeze.id);
  expect(await holds().instant(web)).toEqual(isInForce);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean', 3: 'clean' });
  acme.github.openPullRequest(web, { author: 'bob' });
  await acme.quiet();
  await holds().pass(60);
  expect(holds().mergeable(web)).toMatchObject({ 4: 'clean' });

  acme.github.install('acme', { second: true });
  await holds().pass(60);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  expect(await holds().instant(web)).toEqual({ mode: 'lock', state: 'off', since: null, error: null });
});

test.each<[string, { context: string; appId: null }[]]>([
  ['emptied', []],
  ['of-others', [{ context: 'ci', appId: null }]],
])(
  'somebody changed the ruleset, and the second App is gone: that is told, and nothing of others passes (%s)',
  async (name, checks) => {
    const web = await holds().held(name, 'lock', [{ labels: ['hotfix'] }, {}]);
    await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
    const id = holds().idOf(web);
    uninstall();
    acme.github.editRuleset(id, { checks });
    await holds().pass(120);
    acme.github.openPullRequest(web, { author: 'bob', labels: ['hotfix'] });
    await acme.quiet();
    const { requests } = acme.github;
    for (const context of checks.map((check) => check.context))
      expect(acme.github.currentStatus(web, 1, context)).toBeNull();
    expect(requests.filter(({ path, status }) => path.includes('/statuses/') && status === 422)).toEqual([]);
    const { error, ...instant } = await holds().instant(web);
    expect(instant).toEqual({ mode: 'lock', state: 'unavailable', since: null });
    expect(error).toContain(
      'Somebody made or changed a ruleset with its name, which requires nothing of Holdfast.',
    );
    expect(error).toContain(`/settings/rules/${id}`);
    acme.github.install('acme', { second: true });
    await holds().pass(60);
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
    expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked', 3: 'clean' });
  },
);

test.each<[string, string, (repository: string) => () => void]>([
  [
    'there is no room for another',
    'no-room',
    (repository) => {
      const ids = Array.from({ length: 75 }, () =>
        acme.github.addRuleset(repository, { enforcement: 'disabled' }),
      );
      return () => ids.forEach(({ id }) => acme.github.deleteRuleset(id));
    },
  ],
  [
    'the second App may not make another',
    'no-right',
    () => {
      acme.github.acceptPermissions('acme', { metadata: 'read' }, { second: true });
      return () => acme.github.acceptPermissions('acme', administration, { second: true });
    },
  ],
])(
  'somebody deletes the ruleset, and %s: it goes on later, and posts nothing twice',
  async (_, name, breakIt) => {
    const web = await holds().held(name, 'lock', [{ labels: ['hotfix'] }, {}, { labels: ['hotfix'] }]);
    const freeze = await acme.freeze(web, { exclude_conditions: ['label=hotfix'] });
    await holds().pass(20);
    const context = holds().rulesets(web)[0]!.context!;
    const posted = () =>
      [1, 2, 3].map((number) => {
        const { headSha } = acme.github.pullRequest(web, number);
        return acme.github.statusHistory(web, headSha, context).map(({ state }) => state);
      });
    expect(posted()).toEqual([['success'], [], ['success']]);
    acme.github.deleteRuleset(holds().idOf(web));
    const repair = breakIt(web);
    await holds().pass(120);
    expect(await holds().instant(web)).toMatchObject({ state: 'unavailable', since: null });
    // Nothing requires it now, but it will be required again: who is held meanwhile is not let through then.
    acme.github.unlabel(web, 3, 'hotfix');
    await acme.quiet();
    repair();
    await holds().pass(120);
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
    expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'blocked', 3: 'blocked' });
    expect(posted()).toEqual([['success'], [], ['success', 'pending']]);
    // What waits for ever would look like a check that never ends.
    acme.github.deleteRuleset(holds().idOf(web));
    const again = breakIt(web);
    await holds().pass(120);
    await acme.remove(web, freeze.id);
    await holds().pass(120);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean', 3: 'clean' });
    expect(posted()).toEqual([['success'], [], ['success', 'pending', 'success']]);
    const { repository } = acme.app.deps.db;
    const where = { nameKey: web.split('/')[1]!, account: { login: 'acme' } };
    const { instantPasses } = await repository.findFirstOrThrow({ where, include: { instantPasses: true } });
    expect(instantPasses).toEqual([]);
    again();
    await holds().pass(60);
  },
);

describe('statuses hold as ever, and the answer says what is wrong', () => {
  test.each<[string, string, (repository: string) => () => void, RegExp]>([
    [
      'not installed',
      'absent',
      () => {
        uninstall();
        return () => void acme.github.install('acme', { second: true });
      },
      /^The second App is not installed on acme\/absent\./,
    ],
    [
      'without its permission',
      'weak',
      () => {
        acme.github.acceptPermissions('acme', { metadata: 'read' }, { second: true });
        return () => acme.github.acceptPermissions('acme', administration, { second: true });
      },
      /^GitHub does not let the second App change rulesets of acme\/weak: .+ It needs Administration: write\.$/,
    ],
    [
      'seventy-five rulesets',
      'many',
      (repository) => {
        const ids = Array.from({ length: 75 }, () =>
          acme.github.addRuleset(repository, { enforcement: 'disabled' }),
        );
        return () => ids.forEach(({ id }) => acme.github.deleteRuleset(id));
      },
      /^GitHub refuses the ruleset of acme\/many: Validation Failed/,
    ],
    [
      'changes that do nothing',
      'ignored',
      () => {
        acme.github.rulesetFaults.ignoredUpdates = 9;
        return () => void (acme.github.rulesetFaults.ignoredUpdates = 0);
      },
      /^GitHub accepted the change of the ruleset, but shows it as it was before\./,
    ],
    [
      'down',
      'down',
      () => {
        const fault = acme.github.faults.add({ kind: 'status', status: 502, match: ofRulesets });
        return () => fault.remove();
      },
      /^GitHub does not answer about the ruleset\. Holdfast tries again\.$/,
    ],
  ])('%s', async (_, name, breakIt, error) => {
    const web = await holds().held(name, 'lock', [{}, {}]);
    if (name === 'ignored') await acme.remove(web, (await acme.freeze(web)).id);
    const repair = breakIt(web);
    const freeze = await acme.freeze(web);
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(holds().mergeable(web)).toEqual({ 1: 'blocked', 2: 'blocked' });
    const told = { mode: 'lock', state: 'unavailable', since: null, error: expect.stringMatching(error) };
    expect(await holds().instant(web)).toEqual(told);
    const { findings } = (await acme.call('GET', `/v1/repos/${web}/enforcement`, { as: acme.admin })).body;
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'instant_hold',
        state: 'warning',
        message: expect.stringMatching(/^The instant hold does not work\. /),
      }),
    );
    repair();
    await holds().pass(60);
    expect(
      holds()
        .rulesets(web)
        .filter(({ enforcement }) => enforcement === 'active'),
    ).toHaveLength(1);
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
    await acme.remove(web, freeze.id);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean' });
    expect(
      holds()
        .rulesets(web)
        .filter(({ enforcement }) => enforcement === 'active'),
    ).toEqual([]);
  });

  test('a plan without rulesets', async () => {
    acme.github.addUser('pia');
    acme.github.addOrganization('free', { admins: ['pia'], plan: 'free' });
    acme.github.install('free');
    acme.github.install('free', { second: true });
    acme.github.addRepository('free/web', { private: true, protect: { main: ['holdfast/freeze'] } });
    await acme.quiet();
    const as = await acme.key('free', 'admin');
    const setting = await acme.call('PATCH', '/v1/settings/free', { as, body: { instant_hold: 'lock' } });
    expect(setting.status, setting.text).toBe(200);
    const body = { reason: 'Release', start: null, timezone: 'UTC' };
    const made = await acme.call('POST', '/v1/repos/free/web/scheduled_freeze', { as, body });
    expect(made.status, made.text).toBe(201);
    await acme.quiet();
    const { body: answer } = await acme.call('GET', '/v1/repos/free/web/enforcement', { as });
    expect(answer.instant).toEqual({
      mode: 'lock',
      state: 'unavailable',
      since: null,
      // The first App is told the same: no ruleset can be in force.
      error:
        'GitHub has no rulesets for free/web: Upgrade to GitHub Pro or make this repository public to enable this feature.',
    });
  });
});

test('GitHub limits the first App when a freeze begins, and when it ends', async () => {
  const web = await holds().held('limited', 'lock', [{}]);
  const limit = acme.github.faults.add({
    kind: 'secondary-limit',
    match: ({ path, tokenKind }) => tokenKind === 'installation' && !path.includes('/rulesets'),
  });
  acme.github.openPullRequest(web, { author: 'bob' });
  await acme.quiet();
  const { id } = await acme.freeze(web);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
  await acme.remove(web, id);
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
  limit.remove();
  await holds().pass(80);
  expect(holds().mergeable(web)).toEqual({ 1: 'clean', 2: 'clean' });
});

test('an answer that shows the ruleset as it was is asked again', async () => {
  const web = await holds().held('old', 'lock', [{}]);
  await acme.remove(web, (await acme.freeze(web)).id);
  acme.github.rulesetFaults.oldAnswers = 1;
  await acme.freeze(web);
  expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
});

describe('a process dies between two steps', () => {
  /** The row as the dead process left it, and GitHub as it left that. */
  const leave = async (repository: string, row: object) => {
    const { id } = await acme.app.deps.db.repository.findFirstOrThrow({
      where: { nameKey: repository.split('/')[1]! },
    });
    const lease = { leaseHolder: crypto.randomUUID(), leaseUntil: new Date(acme.clock.now() + 20_000) };
    await acme.app.deps.db.instantHold.update({ where: { repositoryId: id }, data: { ...row, ...lease } });
  };
  const unknown = { since: null };

  test('after it said that the ruleset may be in force', async () => {
    const web = await holds().held('said', 'lock', [{}]);
    await acme.freeze(web);
    acme.github.setEnforcement(holds().idOf(web), 'disabled');
    await leave(web, unknown);
    await holds().pass(80);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
    expect(await holds().instant(web)).toMatchObject({ state: 'on', error: null });
  });

  test('after it made the ruleset, before it saved its id', async () => {
    const web = await holds().held('made', 'lock', [{}]);
    await acme.freeze(web);
    await leave(web, { ...unknown, rulesetId: null });
    await holds().pass(80);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'active' }]);
    expect(await holds().events(web, 'ruleset.orphaned')).toEqual([]);
  });

  test('after that, and the freeze ended meanwhile', async () => {
    lookFaster();
    const web = await holds().held('ended', 'lock', [{}]);
    const freeze = await acme.freeze(web);
    await leave(web, { ...unknown, rulesetId: null });
    await acme.remove(web, freeze.id);
    await holds().pass(80);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
    expect(holds().mergeable(web)).toEqual({ 1: 'clean' });
  });

  test('after it put the ruleset out of force, before it said so', async () => {
    const web = await holds().held('out', 'lock', [{}]);
    const freeze = await acme.freeze(web);
    const { id } = await acme.app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'out' } });
    const row = await acme.app.deps.db.instantHold.findUniqueOrThrow({ where: { repositoryId: id } });
    await acme.remove(web, freeze.id);
    await leave(web, {
      context: row.context,
      since: row.since,
      freezes: row.freezes,
      branches: row.branches,
    });
    await holds().pass(80);
    expect(holds().rulesets(web)).toMatchObject([{ enforcement: 'disabled' }]);
    expect(await holds().instant(web)).toMatchObject({ state: 'off', error: null });
  });
});
