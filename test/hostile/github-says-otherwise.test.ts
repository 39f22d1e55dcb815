// GitHub itself is asked whether it would merge what a freeze holds.
import { afterEach, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

const acme = acmeForAll();
afterEach(() => {
  acme.github.faults.clear();
  acme.github.setMergeStatesBehind(2_000);
});

const context = 'holdfast/freeze';
const ours = () => ({ checks: [{ context, app: acme.github.app.id }] });

/** Lets time pass in steps, as a service sees it. */
async function pass(seconds: number, step = 5): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) {
    await acme.advanceTo(new Date(acme.clock.now() + step * 1000));
  }
}

const get = async (path: string) => {
  const answer = await acme.call('GET', `/v1/repos/${path}`, { as: acme.admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const enforcement = (repository: string) => get(`${repository}/enforcement`);
const progress = (repository: string, id: string) => get(`${repository}/scheduled_freeze/${id}/enforcement`);
const leaks = async (repository: string) => (await acme.events(repository, 'freeze.leaking')).toReversed();
/** How often GitHub was asked. */
const asked = () =>
  acme.github.requests.filter(({ operationName }) => operationName === 'MergeStates').length;

async function page(path: string): Promise<string> {
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const { status, text } = await ada.open(path);
  expect(status).toBe(200);
  return text;
}

describe('a pull request that a freeze holds, on a branch that does not require the status', () => {
  test('is shown as leaking everywhere within 30 s, once in the audit log, until the status is required', async () => {
    const { github } = acme;
    const web = await acme.repository('web', [{}, { base: 'release' }], { protect: { release: ours() } });
    const { id } = await acme.freeze(web);
    expect(github.mergeable(web, 1)).toBe('unstable');
    await pass(30);

    const notHeld = [{ pull_request: 1, reason: 'leaking' }];
    const known = { pull_requests: { to_hold: 2, held: 1 }, leaking: [1], not_held: notHeld };
    expect(await enforcement(web)).toMatchObject({ enforced: false, ...known });
    expect(await progress(web, id)).toMatchObject({ enforced: false, ...known });
    expect((await enforcement(web)).findings[0]).toMatchObject({
      check: 'leaking',
      state: 'failed',
      message: 'GitHub would merge pull requests that freezes should block: #1.',
    });
    const repositoryPage = await page(`/repos/${web}`);
    expect(repositoryPage).toContain('1 pull request is blocked.');
    expect(repositoryPage).toMatch(/<span class="leaking"\s*>GitHub would merge 1<\/span\s*>/);
    expect(repositoryPage).toContain('<a class="badge leaking" href="#enforcement">Not enforced</a>');
    const statusPage = await page(`/repos/${web}/pulls/1`);
    expect(statusPage).toContain('<span class="badge leaking">Not blocked</span>');
    expect(await page(`/repos/${web}/pulls/2`)).toContain('<span class="badge held">Blocked</span>');
    expect(acme.logs.filter((line) => line.includes('GitHub would merge a pull request'))).toHaveLength(1);
    const { headSha } = github.pullRequest(web, 1);
    expect(await leaks(web)).toMatchObject([
      {
        pull_request: 1,
        base_ref: 'main',
        outcome: 'failure',
        trigger: 'github',
        metadata: { scheduled_freeze_id: id, head_sha: headSha, merge_state: 'UNSTABLE' },
      },
    ]);
    expect(repositoryPage).toContain('found that GitHub would merge #1 past a freeze');

    await pass(180, 60);
    expect(await leaks(web)).toHaveLength(1);

    github.protect(web, 'main', ours());
    expect(github.mergeable(web, 1)).toBe('blocked');
    await pass(70, 35);
    const mended = { pull_requests: { to_hold: 2, held: 2 }, leaking: [], not_held: [] };
    expect(await progress(web, id)).toMatchObject({ enforced: true, ...mended });
    expect(await enforcement(web)).toMatchObject({ enforced: true, ...mended });
    expect(await page(`/repos/${web}/pulls/1`)).toContain('<span class="badge held">Blocked</span>');
    expect(await page(`/repos/${web}`)).toContain('2 pull requests are blocked.');
  });

  test('is asked about again at once if somebody asks whether it is fixed', async () => {
    const { github } = acme;
    const api = await acme.repository('api', [{}], { protect: {} });
    await acme.freeze(api);
    await pass(30);
    expect((await enforcement(api)).leaking).toEqual([1]);
    github.protect(api, 'main', ours());
    expect(await enforcement(api)).toMatchObject({ enforced: true, leaking: [] });
  });

  test('leaks once for each head and each freeze', async () => {
    const { github } = acme;
    const lib = await acme.repository('lib', [{}], { protect: {} });
    const first = await acme.freeze(lib);
    await pass(30);
    github.push(lib, 1);
    await acme.quiet();
    expect((await enforcement(lib)).leaking).toEqual([]);
    await pass(30);
    expect((await enforcement(lib)).leaking).toEqual([1]);
    const second = await acme.freeze(lib, { reason: 'Audit' });
    await pass(70, 35);
    const ids = (await leaks(lib)).map(({ metadata }: { metadata: { scheduled_freeze_id: string } }) => {
      return metadata.scheduled_freeze_id;
    });
    expect(ids).toEqual([first.id, first.id, second.id]);
    await acme.remove(lib, first.id);
    await acme.remove(lib, second.id);
    expect(await enforcement(lib)).toMatchObject({ leaking: [], pull_requests: { to_hold: 0, held: 0 } });
    await pass(70, 35);
    expect(await leaks(lib)).toHaveLength(3);
  });
});

describe('nothing leaks', () => {
  test('if the check is required: GitHub is asked until it knows, and then rarely', async () => {
    const held = await acme.repository('held', [{}, {}, { draft: true }], { protect: { main: ours() } });
    const { id } = await acme.freeze(held);
    await pass(20);
    const { id: repositoryId } = await acme.app.deps.db.repository.findFirstOrThrow({
      where: { name: 'held' },
    });
    const rows = await acme.app.deps.db.openPullRequest.findMany({ where: { repositoryId } });
    for (const { mergeStateDueAt, mergeState } of rows) {
      expect(['BLOCKED', 'DRAFT']).toContain(mergeState);
      expect(mergeStateDueAt!.getTime() - acme.clock.now()).toBeGreaterThan(9 * 60_000);
    }
    expect(await leaks(held)).toEqual([]);
    expect(await progress(held, id)).toMatchObject({ pull_requests: { to_hold: 3, held: 3 }, leaking: [] });
  });

  test('while GitHub answers as before the status: one answer does not count', async () => {
    acme.github.setMergeStatesBehind(12_000);
    const late = await acme.repository('late', [{}], { protect: { main: ours() } });
    await pass(15);
    await acme.freeze(late);
    await pass(40);
    expect(await leaks(late)).toEqual([]);
    expect((await enforcement(late)).leaking).toEqual([]);
  });

  test('of a draft, or of one that conflicts', async () => {
    const { github } = acme;
    const loose = await acme.repository('loose', [{ draft: true }, {}, {}], { protect: {} });
    github.pushToBranch(loose, 'main', { conflictsWith: [2] });
    await acme.freeze(loose);
    await pass(30);
    expect((await enforcement(loose)).leaking).toEqual([3]);
    github.markReady(loose, 1);
    await acme.quiet();
    await pass(30);
    expect((await enforcement(loose)).leaking).toEqual([1, 3]);
  });
});

test('a requirement that is lifted during the freeze is found in ten minutes', async () => {
  const { github } = acme;
  const lifted = await acme.repository('lifted', [{}], { protect: { main: ours() } });
  await acme.freeze(lifted);
  await pass(30);
  github.protect(lifted, 'main', []);
  await pass(10 * 60, 100);
  // Asked once more before it is said.
  await pass(30);
  expect((await enforcement(lifted)).leaking).toEqual([1]);
});

test('a pull request that moves to a branch without the required status leaks there', async () => {
  const { github } = acme;
  const moved = await acme.repository('moved', [{}], { protect: { main: ours() } });
  await acme.freeze(moved);
  await pass(15);
  await acme.advanceTo(new Date(acme.clock.now() + 1_000));
  github.retarget(moved, 1, 'next');
  await acme.quiet();
  await pass(30);
  expect(await leaks(moved)).toMatchObject([{ pull_request: 1, base_ref: 'next' }]);
});

test('while GitHub limits us or is down, it is asked later, and statuses do not wait for that', async () => {
  const { github } = acme;
  const busy = await acme.repository('busy', [{}], { protect: {} });
  const ofUs = ({ operationName }: { operationName?: string }) => operationName === 'MergeStates';
  const fault = github.faults.add({ kind: 'status', status: 502, match: ofUs });
  await acme.freeze(busy);
  expect(acme.frozen(busy)).toEqual([1]);
  await pass(30);
  expect(
    (await progress(busy, (await get(`${busy}/scheduled_freeze`)).scheduled_freezes[0].id)).leaking,
  ).toEqual([]);
  fault.remove();
  await pass(120, 20);
  expect((await enforcement(busy)).leaking).toEqual([1]);
});

test('one question asks about a hundred', async () => {
  const { github, app } = acme;
  const many = await acme.repository('many', [{}], { protect: {} });
  const { headSha } = github.pullRequest(many, 1);
  // One status holds them all, so that little is written.
  github.webhookFaults.add({ kind: 'drop', event: 'pull_request' });
  for (let count = 2; count <= 120; count++) github.openPullRequest(many, { author: 'ada', headSha });
  github.webhookFaults.clear();
  await acme.freeze(many);
  const before = asked();
  await pass(30);
  const { id: repositoryId } = await app.deps.db.repository.findFirstOrThrow({ where: { name: 'many' } });
  expect(
    await app.deps.db.openPullRequest.count({ where: { repositoryId, leakingSince: { not: null } } }),
  ).toBe(120);
  // Two questions at a time, three times: GitHub does not know yet, would merge, would merge. Others are asked about, too.
  expect(asked() - before).toBeLessThanOrEqual(12);
});

describe('a merge queue', () => {
  test('on a branch that does not require the status: the head leaks, and its group with it', async () => {
    const { github } = acme;
    const { fullName: line } = github.addRepository('acme/line', { protect: { main: ['ci'] } });
    github.openPullRequest(line, { author: 'ada' });
    github.enableMergeQueue(line, 'main');
    github.postStatus(line, 1, { by: 'bob', state: 'success', context: 'ci' });
    github.enqueue(line, 1);
    await acme.quiet();
    const { id } = await acme.freeze(line);
    await pass(30);
    expect(await progress(line, id)).toMatchObject({
      leaking: [1],
      pull_requests: { to_hold: 1, held: 0 },
      merge_groups: { to_hold: 1, held: 0 },
    });
  });
});

test('is asked again soon after a status that somebody overwrote is written again', async () => {
  const { github } = acme;
  const over = await acme.repository('over', [{}], { protect: { main: ours() } });
  const nextQuestion = async () => {
    const where = { headSha: github.pullRequest(over, 1).headSha };
    const { mergeStateDueAt } = await acme.app.deps.db.openPullRequest.findFirstOrThrow({ where });
    return mergeStateDueAt!.getTime();
  };
  await acme.freeze(over);
  await pass(30);
  // Asked, and blocked: the next question has ten minutes from then.
  const settled = await nextQuestion();
  expect(settled).toBeGreaterThan(acme.clock.now() + 9 * 60_000);
  github.postStatus(over, 1, { by: 'bob', state: 'success', description: 'ship it' });
  await acme.quiet();
  await pass(20);
  expect(acme.shown(over, 1)?.state).toBe('pending');
  expect(await nextQuestion()).toBeGreaterThan(settled);
});
