// The effect of exemptions on the merge queue, on test merge commits, after lost events, and on pages.
import { beforeAll, describe, expect, test } from 'vitest';
import { heldUntilRemoved, acmeForAll } from './support/acme.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { passCiOn, queuedIn } from './support/queued.ts';
import { Visitor } from './support/visitor.ts';

const acme = acmeForAll();
let exemptions: ReturnType<typeof exemptionsOf>;
beforeAll(async () => {
  exemptions = exemptionsOf(acme);
  for (const login of ['mallory', 'wendy']) acme.github.addUser(login);
});

const inHours = (hours: number) => new Date(acme.clock.now() + hours * 3_600_000);

test('in a merge group, an exempt pull request counts as free until the exemption ends', async () => {
  const { github } = acme;
  const web = await queuedIn(acme, 'web', [{}, {}]);
  const shown = (number: number) => {
    const group = github.mergeGroups(web).find(({ pullRequests }) => pullRequests.at(-1) === number);
    return group && github.currentStatus(web, group.headSha)?.state;
  };
  const made = await exemptions.exempt(web, 1);
  await acme.freeze(web);
  expect(github.mergeQueue(web, 'main').map(({ number }) => number)).toEqual([1]);
  expect(shown(1)).toBe('success');
  await exemptions.decide('revoke', web, made);
  expect(github.mergeQueue(web, 'main')).toEqual([]);

  await exemptions.exempt(web, 2);
  github.enqueue(web, 2);
  await acme.quiet();
  for (const { headSha } of github.mergeGroups(web)) passCiOn(acme, web, headSha);
  await acme.quiet();
  expect(github.merges(web).map(({ number }) => number)).toEqual([2]);
  expect(await exemptions.list(web, '?pull_request=2')).toMatchObject([{ state: 'used' }]);
});

test('a pull request from the test merge commit of an exempt one needs its own exemption', async () => {
  const { github } = acme;
  const lib = await acme.repository('lib', [{}]);
  const headSha = github.testMergeCommit(lib, 1)!;
  github.openPullRequest(lib, { author: 'bob', base: 'release', headSha });
  await acme.quiet();
  await acme.freeze(lib);
  await exemptions.exempt(lib, 1);
  expect(acme.shown(lib, 2)).toMatchObject({
    state: 'pending',
    description: expect.stringMatching(/^#2 is frozen/),
  });
  expect(github.mergeable(lib, 1)).toBe('blocked');
  await exemptions.exempt(lib, 2);
  expect([1, 2].map((number) => github.mergeable(lib, number))).toEqual(['clean', 'clean']);
});

describe('lost events and jobs', () => {
  test('a merge without a webhook has used its exemption', async () => {
    const { github } = acme;
    const ops = await acme.repository('ops', [{}]);
    await acme.freeze(ops);
    await exemptions.exempt(ops, 1);
    github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
    github.merge(ops, 1, 'ada');
    await acme.quiet();
    github.webhookFaults.clear();
    await acme.freeze(ops, { reason: 'Another' });
    expect(await exemptions.list(ops)).toMatchObject([{ state: 'used' }]);
  });

  test('the sweep ends what a lost job should have, also while GitHub is down', async () => {
    const core = await acme.repository('core', [{}]);
    await acme.freeze(core);
    const made = await exemptions.exempt(core, 1, { expires_at: inHours(1).toISOString() });
    await acme.app.deps.db.job.deleteMany({ where: { task: 'end-exemptions' } });
    acme.github.goDown();
    await acme.advanceTo(new Date(Date.parse(made.expires_at) + 61_000));
    const states = (await exemptions.list(core)).map(({ state }) => state);
    acme.github.comeBack();
    expect(states).toEqual(['expired']);
    await acme.advanceTo(new Date(acme.clock.now() + 120_000));
    expect(acme.shown(core, 1)).toEqual(heldUntilRemoved);
  });
});

describe('the page of the pull request', () => {
  const read = async (repository: string, login: string | null = null) => {
    const visitor = new Visitor(acme);
    if (login) await visitor.signIn(login);
    const { status, text } = await visitor.open(`/repos/${repository}/pulls/1`);
    expect(status).toBe(200);
    return text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
  };

  test('says until when it is exempt, by whom and why; and why that ended', async () => {
    const docs = await acme.repository('docs', [{}]);
    await acme.freeze(docs);
    const made = await exemptions.exempt(docs, 1);
    const page = await read(docs);
    expect(page).toMatch(/Exempt until Mon 2 Mar, .* UTC, because INC-4711 fix\./);
    expect(page).toMatch(/It applies to commit [0-9a-f]{7} only\./);
    expect(page).not.toContain('Free No freeze');
    expect(page).toContain(
      'Requested by the application key admin key, approved by the application key admin key.',
    );
    expect(page).toContain('It would hold this pull request, but the pull request is exempt.');

    acme.github.push(docs, 1);
    await acme.quiet();
    const pushed = await read(docs);
    expect(pushed).toMatch(/another commit was pushed, and the exemption was for [0-9a-f]{7}\./);
    expect(pushed).not.toContain('Exempt until');
    const second = await exemptions.exempt(docs, 1);
    await exemptions.decide('revoke', docs, second);
    expect(await read(docs)).toContain('the application key admin key revoked the exemption.');
    expect(made.id).not.toBe(second.id);
    await exemptions.exempt(docs, 1);
    acme.github.retarget(docs, 1, 'release');
    await acme.quiet();
    expect(await read(docs)).toContain('its base branch was changed, and the exemption was for main.');
  });

  test('and the audit log distinguishes an expired request from an expired exemption', async () => {
    const desk = await acme.repository('desk', [{}], { roles: { wendy: 'write' } });
    const token = acme.github.addToken('wendy', { kind: 'classic', scopes: ['repo'] });
    await exemptions.exempt(desk, 1, { public_reason: 'A repair' }, token);
    acme.github.push(desk, 1);
    await acme.quiet();
    const visitor = new Visitor(acme);
    await visitor.signIn('wendy');
    const log = (await visitor.open(`/repos/${desk}`)).text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');
    expect(log).toContain('ended the exemption request for #1');
    expect(log).toContain('Public reason: A repair');
    expect(log).toContain('Freezes: all');
    expect(log).not.toContain('ended the exemption for');
  });

  test('hides a reason from outsiders if a freeze that it covers has a public one', async () => {
    const shop = await acme.repository('shop', [{}], { roles: { wendy: 'write' } });
    await acme.freeze(shop, { reason: 'A leak', public_reason: 'Maintenance' });
    await exemptions.exempt(shop, 1);
    for (const login of [null, 'mallory']) expect(await read(shop, login)).not.toContain('INC-4711');
    expect(await read(shop, 'wendy')).toContain('INC-4711 fix');
    const log = await new Visitor(acme).open(`/repos/${shop}`);
    expect(log.text).not.toContain('INC-4711');
  });
});
