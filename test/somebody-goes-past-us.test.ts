import { describe, expect, test } from 'vitest';
import { free, acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const context = 'holdfast/freeze';
/** The audit log's events of a type, oldest first. */
const logged = async (repository: string, type: string) => (await acme.events(repository, type)).toReversed();

describe('somebody overwrites our status', () => {
  test('it is corrected at once, and recorded with who it was', async () => {
    const { github } = acme;
    const web = await acme.repository('web', [{}]);
    await acme.freeze(web);
    github.postStatus(web, 1, { by: 'bob', state: 'success', description: 'ship it' });
    await acme.quiet();
    expect(acme.shown(web, 1)).toEqual({ state: 'pending', description: 'Frozen until removed: Release' });
    const sha = github.pullRequest(web, 1).headSha;
    expect(await logged(web, 'freeze_status.overwritten')).toMatchObject([
      {
        trigger: 'github',
        outcome: 'failure',
        metadata: {
          sha,
          state: 'success',
          description: 'ship it',
          expected_state: 'pending',
          overwritten_by: { type: 'user', name: 'bob' },
        },
      },
    ]);
  });

  test('a status with our text, and repeated or old events, cause no write', async () => {
    const { github } = acme;
    const api = await acme.repository('api', [{}]);
    const before = github.statusHistory(api, github.pullRequest(api, 1).headSha, context).length;
    github.postStatus(api, 1, { by: 'bob', ...free, state: 'success' });
    await acme.quiet();
    await acme.freeze(api);
    for (const { guid } of github.deliveries.filter(({ event }) => event === 'status').slice())
      await github.redeliver(guid);
    await acme.quiet();
    expect(acme.posts(api)).toEqual({ 1: before + 2 });
    expect(await logged(api, 'freeze_status.overwritten')).toEqual([]);
  });

  test('repeated overwriting is corrected later and later', async () => {
    const { github, clock } = acme;
    const bot = await acme.repository('bot', [{}]);
    await acme.freeze(bot);
    const { headSha } = github.pullRequest(bot, 1);
    const ours = () =>
      github.statusHistory(bot, headSha, context).filter(({ creator }) => creator === 'holdfast[bot]').length;
    const before = ours();
    for (let second = 0; second < 30; second++) {
      github.postStatus(bot, 1, { by: 'bob', state: 'success' });
      await acme.advanceTo(new Date(clock.now() + 1000));
    }
    expect(ours() - before).toBeLessThanOrEqual(6);
    await acme.advanceTo(new Date(clock.now() + 70_000));
    expect(acme.frozen(bot)).toEqual([1]);
  });

  test('a lost event is found by the hourly look', async () => {
    const { github, clock } = acme;
    const lost = await acme.repository('lost', [{}]);
    await acme.freeze(lost);
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'status' });
    github.postStatus(lost, 1, { by: 'bob', state: 'success' });
    fault.remove();
    await acme.quiet();
    expect(acme.frozen(lost)).toEqual([]);
    await acme.advanceTo(new Date(clock.now() + 61 * 60_000));
    expect(acme.frozen(lost)).toEqual([1]);
  });
});

describe('a frozen pull request is merged', () => {
  test('past the required check: who, which freeze, and what our status showed', async () => {
    const { github } = acme;
    const lib = await acme.repository('lib', [{ labels: ['risky'] }, {}]);
    const { id } = await acme.freeze(lib, { matching_conditions: ['label=risky'] });
    const { headSha } = github.pullRequest(lib, 1);
    github.bypassMerge(lib, 1, 'ada');
    github.bypassMerge(lib, 2, 'ada');
    await acme.quiet();
    expect(await logged(lib, 'freeze.bypassed')).toMatchObject([
      {
        pull_request: 1,
        base_ref: 'main',
        trigger: 'github',
        metadata: {
          scheduled_freeze_id: id,
          scheduled_freeze_attributes: { reason: 'Release' },
          bypassed_by: { type: 'user', name: 'ada' },
          shown_state: 'pending',
          head_sha: headSha,
        },
      },
    ]);
  });

  test('it is one event, even if the webhook is repeated or the freeze is deleted by then', async () => {
    const { github, app } = acme;
    const ops = await acme.repository('ops', [{}]);
    const { id } = await acme.freeze(ops);
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'closed' });
    github.bypassMerge(ops, 1, 'ada');
    fault.remove();
    await acme.advanceTo(new Date(acme.clock.now() + 60_000));
    await acme.remove(ops, id);
    const closed = github.deliveries.findLast(({ action }) => action === 'closed')!;
    await github.redeliver(closed.guid);
    await acme.quiet();
    await app.deps.db.webhookDelivery.deleteMany({ where: { guid: closed.guid } });
    await github.redeliver(closed.guid);
    await acme.quiet();
    expect(await logged(ops, 'freeze.bypassed')).toHaveLength(1);
  });

  test('a merge whose webhook was lost is found by the next look', async () => {
    const { github } = acme;
    const quiet = await acme.repository('quiet', [{}, {}]);
    await acme.freeze(quiet);
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'closed' });
    github.bypassMerge(quiet, 1, 'ada');
    fault.remove();
    await acme.advanceTo(new Date(acme.clock.now() + 61 * 60_000));
    expect(await logged(quiet, 'freeze.bypassed')).toMatchObject([{ pull_request: 1 }]);
  });

  test('a merge whose webhook was lost is also found if the next look is only at that pull request', async () => {
    const { github } = acme;
    const alone = await acme.repository('alone', [{}]);
    await acme.freeze(alone);
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'closed' });
    github.bypassMerge(alone, 1, 'ada');
    fault.remove();
    github.label(alone, 1, 'late');
    await acme.quiet();
    expect(await logged(alone, 'freeze.bypassed')).toMatchObject([{ pull_request: 1 }]);
  });

  test('a merge before the freeze was made does not count, and neither does one without enforcement', async () => {
    const { github, clock } = acme;
    const early = await acme.repository('early', [{}]);
    const fault = github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'closed' });
    expect(github.merge(early, 1)).toMatchObject({ merged: true });
    fault.remove();
    await acme.advanceTo(new Date(clock.now() + 600_000));
    const start = new Date(clock.now() - 3_600_000).toISOString().slice(0, 19);
    await acme.freeze(early, { start });
    expect(await logged(early, 'freeze.bypassed')).toEqual([]);

    const off = await acme.repository('off', [{}]);
    await acme.freeze(off);
    await acme.setProducts(off, []);
    expect(github.merge(off, 1)).toMatchObject({ merged: true });
    await acme.quiet();
    expect(await logged(off, 'freeze.bypassed')).toEqual([]);
  });

  test('nothing is recorded about merges without a freeze, or about closed pull requests', async () => {
    const { github } = acme;
    const calm = await acme.repository('calm', [{}, {}]);
    expect(github.merge(calm, 1)).toMatchObject({ merged: true });
    await acme.quiet();
    await acme.freeze(calm);
    github.closePullRequest(calm, 2);
    await acme.quiet();
    expect(await logged(calm, 'freeze.bypassed')).toEqual([]);
  });
});
