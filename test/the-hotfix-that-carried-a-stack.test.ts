// GitHub merges a stack from the bottom up: merging one pull request merges all below it into the stack's base, by the
// rules of that base. A freeze of the base holds all of them, and whoever is above a held one is held with it.
import { beforeAll, describe, expect, test } from 'vitest';
import { free, acmeForAll, heldUntilRemoved } from './support/acme.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { passCiOn } from './support/queued.ts';
import { Visitor, words } from './support/visitor.ts';

const acme = acmeForAll();
let exemptions: ReturnType<typeof exemptionsOf>;
let token: string;
beforeAll(() => {
  exemptions = exemptionsOf(acme);
  token = acme.github.addToken('ada');
});

const onMain = { matching_conditions: ['base=main'] };

/** A repository with a stack onto main: each pull request is based on the one below, the first one on main. */
async function stacked(name: string, members: object[], options: object = {}): Promise<string> {
  const pullRequests = members.map((member, index) => ({
    head: `part-${index + 1}`,
    base: index === 0 ? 'main' : `part-${index}`,
    ...member,
  }));
  const repository = await acme.repository(name, pullRequests as never[], options);
  acme.github.stack(
    repository,
    members.map((_, index) => index + 1),
  );
  await acme.quiet();
  return repository;
}

/** Merges as a person does it: GitHub answers 202, and says later what became of it. */
async function merge(repository: string, number: number) {
  const headers = { authorization: `Bearer ${token}` };
  const url = `${acme.github.url}/repos/${repository}/pulls/${number}/merge-async`;
  const requested = await fetch(url, { method: 'PUT', headers, body: '{}' });
  const { details } = (await requested.json()) as { details: { uuid: string } };
  for (;;) {
    const answer = await fetch(`${url}/${details.uuid}`, { headers });
    const result = (await answer.json()) as { status: string; details: { message: string } };
    const { status } = result;
    if (status !== 'pending') return { requested: requested.status, status, message: result.details.message };
  }
}

const merged = (repository: string) => acme.github.merges(repository).map(({ number }) => number);
const explained = async (repository: string, number: number) =>
  (await acme.call('GET', `/v1/repos/${repository}/pulls/${number}/freezes`, { as: acme.admin })).body;

describe('the hotfix that carried a stack', () => {
  test('an excluded pull request frees itself, and nothing above it', async () => {
    const web = await stacked('web', [{ labels: ['hotfix'] }, {}, {}]);
    const { id } = await acme.freeze(web, { ...onMain, exclude_conditions: ['label=hotfix'] });
    expect(acme.frozen(web)).toEqual([2, 3]);
    expect(acme.shown(web, 1)).toEqual(free);
    expect(acme.shown(web, 3)).toEqual(heldUntilRemoved);
    const refused = { requested: 202, status: 'failed', message: expect.stringContaining('pending') };
    expect(await merge(web, 3)).toEqual(refused);
    expect(merged(web)).toEqual([]);

    expect(await merge(web, 1)).toMatchObject({ status: 'merged' });
    await acme.quiet();
    expect(merged(web)).toEqual([1]);
    expect(acme.frozen(web)).toEqual([2, 3]);
    await acme.remove(web, id);
    expect(await merge(web, 3)).toMatchObject({ status: 'merged' });
    expect(merged(web)).toEqual([1, 2, 3]);
  });

  test('an exemption is for one of them', async () => {
    const api = await stacked('api', [{}, {}, {}]);
    await acme.freeze(api, onMain);
    expect(acme.frozen(api)).toEqual([1, 2, 3]);
    await exemptions.exempt(api, 1);
    expect(acme.frozen(api)).toEqual([2, 3]);
    await exemptions.exempt(api, 3);
    expect(acme.shown(api, 3)).toEqual({
      state: 'pending',
      description: '#2 below it in its stack is frozen until removed: Release',
    });
    expect(await merge(api, 3)).toMatchObject({ status: 'failed' });
    await exemptions.exempt(api, 2);
    expect(acme.frozen(api)).toEqual([]);
    expect(await exemptions.list(api, '?state=used')).toEqual([]);
    expect(await merge(api, 3)).toMatchObject({ status: 'merged' });
    await acme.quiet();
    expect(await exemptions.list(api, '?state=used')).toHaveLength(3);
  });

  test('one that no freeze selects is held with the one below it, until that one is free', async () => {
    const site = await stacked('site', [{}, { labels: ['risky'] }, {}, {}]);
    await acme.freeze(site, { matching_conditions: ['label=risky'] });
    expect(acme.frozen(site)).toEqual([2, 3, 4]);
    expect(acme.github.mergeable(site, 1)).toBe('clean');
    const { frozen, pull_request: shown, held_below: below, status } = await explained(site, 3);
    expect({ frozen, shown: shown.stack, below, said: status.description }).toEqual({
      frozen: true,
      shown: { number: 1, position: 3, size: 4, base: 'main' },
      below: [2],
      said: '#2 below it in its stack is frozen until removed: Release',
    });
    const page = words(await new Visitor(acme).open(`/repos/${site}/pulls/3`));
    expect(page).toContain(
      'Blocked A pull request below it in its stack is blocked, so this one is blocked too until removed .',
    );
    expect(page).toContain('3 of 4 in the stack onto main , blocked by #2 below it.');
    expect(await explained(site, 1)).toMatchObject({
      pull_request: { stack: { position: 1 } },
      held_below: [],
    });

    acme.github.unlabel(site, 2, 'risky');
    await acme.quiet();
    expect(acme.frozen(site)).toEqual([]);
    acme.github.label(site, 1, 'risky');
    await acme.quiet();
    expect(acme.frozen(site)).toEqual([1, 2, 3, 4]);
  });

  test('a stack is made and dissolved while a freeze holds its base', async () => {
    const lib = await acme.repository('lib', [{ head: 'a' }, { base: 'a', head: 'b' }]);
    await acme.freeze(lib, onMain);
    // Pull requests that are only based on each other merge one into the other, which changes nothing on main.
    expect(acme.frozen(lib)).toEqual([1]);
    acme.github.stack(lib, [1, 2]);
    await acme.quiet();
    expect(acme.frozen(lib)).toEqual([1, 2]);

    // No event tells that one left: the next one does not name a stack any more.
    acme.github.unstack(lib, 2);
    acme.github.label(lib, 2, 'any');
    await acme.quiet();
    expect(acme.frozen(lib)).toEqual([1]);
  });

  test('a repository that has had a hundred stacks still has this one', async () => {
    const old = await acme.repository('old', [{ head: 'x' }, { base: 'x', head: 'y' }]);
    for (const number of [1, 2]) acme.github.closePullRequest(old, number);
    acme.github.formerStacks(old, [1, 2], 100);
    const parts = [
      { head: 'part-1', base: 'main', labels: ['hotfix'] },
      { head: 'part-2', base: 'part-1' },
      { head: 'alone', base: 'main' },
    ];
    for (const part of parts) acme.github.openPullRequest(old, { author: 'ada', ...part });
    acme.github.stack(old, [3, 4]);
    await acme.quiet();
    await acme.freeze(old, { ...onMain, exclude_conditions: ['label=hotfix'] });
    expect(acme.frozen(old)).toEqual([4, 5]);
    expect(await merge(old, 4)).toMatchObject({ status: 'failed' });
    expect(merged(old)).toEqual([]);
  });

  test('the webhook that said so is lost, and a later one tells of it', async () => {
    const app = await acme.repository('app', [{ head: 'a' }, { base: 'a', head: 'b' }]);
    await acme.freeze(app, onMain);
    acme.github.webhookFaults.add({ kind: 'drop', event: 'pull_request', action: 'stacked', times: 2 });
    acme.github.stack(app, [1, 2]);
    await acme.quiet();
    expect(acme.frozen(app)).toEqual([1]);
    acme.github.label(app, 2, 'any');
    await acme.quiet();
    expect(acme.frozen(app)).toEqual([1, 2]);
  });

  test('GitHub asks for the stack’s base, and so does the doctor', async () => {
    const core = await stacked('core', [{}, {}], { protect: {} });
    const { body } = await acme.call('GET', `/v1/repos/${core}/enforcement`, { as: acme.admin });
    const branches = body.findings.filter(({ check }: { check: string }) => check === 'required_check');
    expect(branches.map(({ branch, state }: Record<string, string>) => [branch, state])).toEqual([
      ['main', 'failed'],
    ]);
  });

  test('a merge queue takes a stack in order, and nothing of it that is held', async () => {
    const queue = await stacked('queue', [{}, {}, {}], { protect: { main: ['holdfast/freeze', 'ci'] } });
    acme.github.enableMergeQueue(queue, 'main', { maxEntriesToMerge: 2 });
    for (const { headSha } of acme.github.pullRequests(queue)) passCiOn(acme, queue, headSha);
    acme.github.enqueue(queue, 3);
    await acme.quiet();
    expect(acme.github.mergeQueue(queue, 'main').map(({ number }) => number)).toEqual([1, 2, 3]);
    const { id } = await acme.freeze(queue, { ...onMain, exclude_conditions: ['label=hotfix'] });
    expect(acme.github.mergeQueue(queue, 'main')).toEqual([]);
    acme.github.label(queue, 1, 'hotfix');
    await acme.quiet();
    expect(() => acme.github.enqueue(queue, 3)).toThrow('is in a stack');
    await acme.remove(queue, id);
    acme.github.enqueue(queue, 3);
    await acme.quiet();
    for (const { headSha } of acme.github.mergeGroups(queue)) passCiOn(acme, queue, headSha);
    await acme.quiet();
    // Three entries, although the limit is two: GitHub does not part a stack.
    expect(merged(queue)).toEqual([1, 2, 3]);
  });
});
