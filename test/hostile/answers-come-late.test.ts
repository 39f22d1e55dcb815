// GitHub's answers lag behind its events, overlap with our writes, or never come.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { reconcileMergeQueue } from '../../src/statuses/merge-queue.ts';
import { jobs } from '../../src/database/queue/jobs.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
afterEach(() => acme.github.chaos.stop());

const inMinutes = (minutes: number) => new Date(acme.clock.now() + minutes * 60_000);
const idOf = (repository: string) => BigInt(acme.github.repository(repository).id);
const headOf = (repository: string) =>
  acme.app.deps.db.headStatus.findFirstOrThrow({ where: { repositoryId: idOf(repository) } });
/** From now on GraphQL answers as of this instant of the real clock. */
const showAt = (staleAt: number) =>
  acme.github.chaos.start({
    seed: 1,
    apiFailureRate: 0,
    webhookRates: {},
    staleRate: 1,
    staleBy: 0,
    staleAt,
  });
/** An instant of the real clock, after all that has happened, and before what comes. */
async function between(): Promise<number> {
  await delay(5);
  const instant = Date.now();
  await delay(5);
  return instant;
}
const isPost = ({ method, url }: { method: string; url: string }) =>
  method === 'POST' && url.includes('/statuses/');

test('a look with an older answer does not cancel a waiting correction', async () => {
  const { github, app } = acme;
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web);
  github.postStatus(web, 1, { by: 'bob', state: 'success', description: 'first' });
  await acme.quiet();
  const before = await between();
  // The second is answered after a pause.
  github.postStatus(web, 1, { by: 'bob', state: 'success', description: 'second' });
  await acme.quiet();
  expect((await headOf(web)).isWaiting).toBe(true);
  showAt(before);
  await app.deps.queue.send([jobs.reconcileRepository(idOf(web))]);
  await acme.quiet();
  acme.github.chaos.stop();
  await acme.advanceTo(inMinutes(1));
  expect(acme.frozen(web)).toEqual([1]);
});

test('a write with a lost answer is settled, even if a look still shows the former status', async () => {
  const api = await acme.repository('api', [{}]);
  const before = await between();
  const client = await acme.app.deps.github.asInstallation((await headOf(api)).installationId!);
  let isLost = false;
  client.hook.after('request', async (_answer, options) => {
    if (isLost || !isPost(options) || options['repo'] !== 'api') return;
    isLost = true;
    throw new Error('socket hang up');
  });
  const { id } = await acme.freeze(api);
  expect(isLost).toBe(true);
  showAt(before);
  await acme.remove(api, id);
  acme.github.chaos.stop();
  await acme.advanceTo(inMinutes(3));
  expect(acme.frozen(api)).toEqual([]);
});

test('a status that somebody writes while our answer is under way is corrected', async () => {
  const { github } = acme;
  const lib = await acme.repository('lib', [{}, {}]);
  const client = await acme.app.deps.github.asInstallation((await headOf(lib)).installationId!);
  client.hook.after('request', async (_answer, options) => {
    if (isPost(options) && options['repo'] === 'lib') await delay(200);
  });
  const answered = new Set<string>();
  const stop = github.onStatus(({ repository, sha }) => {
    if (repository !== lib || answered.has(sha)) return;
    answered.add(sha);
    setTimeout(() => github.postStatus(lib, sha, { by: 'bob', state: 'success', description: 'bot' }), 20);
  });
  await acme.freeze(lib);
  stop();
  await acme.advanceTo(inMinutes(3));
  expect(acme.frozen(lib)).toEqual([1, 2]);
});

test('a reopened pull request that is still shown closed is looked at again', async () => {
  const { github } = acme;
  const ops = await acme.repository('ops', [{}]);
  github.closePullRequest(ops, 1);
  await acme.quiet();
  await acme.freeze(ops);
  await acme.advanceTo(inMinutes(1));
  showAt(await between());
  github.reopenPullRequest(ops, 1);
  await acme.quiet();
  github.chaos.stop();
  await acme.advanceTo(inMinutes(2));
  expect(acme.frozen(ops)).toEqual([1]);
});

test('a new pull request that is not shown yet is looked at again', async () => {
  const { github } = acme;
  const docs = await acme.repository('docs');
  await acme.freeze(docs);
  showAt(await between());
  github.openPullRequest(docs, { author: 'ada' });
  await acme.quiet();
  github.chaos.stop();
  await acme.advanceTo(inMinutes(2));
  expect(acme.frozen(docs)).toEqual([1]);
});

test('a known pull request that an old answer does not show is looked at again', async () => {
  const before = Date.now();
  const app = await acme.repository('app', [{}]);
  showAt(before - 1);
  await acme.freeze(app);
  acme.github.chaos.stop();
  expect(acme.frozen(app)).toEqual([]);
  await acme.advanceTo(inMinutes(1));
  expect(acme.frozen(app)).toEqual([1]);
});

test('a push that an old answer does not show is looked at again', async () => {
  const { github } = acme;
  const cli = await acme.repository('cli', [{}]);
  await acme.advanceTo(inMinutes(1));
  const before = await between();
  github.push(cli, 1);
  await acme.quiet();
  showAt(before);
  await acme.freeze(cli);
  github.chaos.stop();
  expect(acme.frozen(cli)).toEqual([]);
  await acme.advanceTo(inMinutes(1));
  expect(acme.frozen(cli)).toEqual([1]);
});

test('a merge group that a look saw before it merged is not written again', async () => {
  const { github, app } = acme;
  const hub = await acme.repository('hub', [{}]);
  github.enableMergeQueue(hub, 'main');
  const lost = [
    github.webhookFaults.add({ kind: 'drop', event: 'merge_group' }),
    github.webhookFaults.add({ kind: 'drop', event: 'pull_request' }),
  ];
  github.enqueue(hub, 1);
  await acme.quiet();
  lost.forEach((fault) => fault.remove());
  const client = await app.deps.github.asInstallation((await headOf(hub)).installationId!);
  const read = Promise.withResolvers<true>();
  const goOn = Promise.withResolvers<true>();
  let isFirst = true;
  client.hook.after('request', async (_answer, { query }) => {
    if (!isFirst || !String(query).includes('mergeQueue')) return;
    isFirst = false;
    read.resolve(true);
    await goOn.promise;
  });
  const slow = reconcileMergeQueue(app.deps, idOf(hub), 'main');
  await read.promise;
  await reconcileMergeQueue(app.deps, idOf(hub), 'main');
  await acme.quiet();
  expect(github.merges(hub)).toHaveLength(1);
  await reconcileMergeQueue(app.deps, idOf(hub), 'main');
  const posts = acme.postsInAll();
  goOn.resolve(true);
  await slow;
  await acme.quiet();
  expect(acme.postsInAll()).toBe(posts);
});

test('another name of our context is written everywhere within the hour', async () => {
  const { github, app } = acme;
  const site = await acme.repository('site', [{}]);
  const { headSha } = github.pullRequest(site, 1);
  app.deps.config.statusContext = 'other/freeze';
  await acme.advanceTo(inMinutes(61));
  app.deps.config.statusContext = 'holdfast/freeze';
  expect(github.statusHistory(site, headSha, 'other/freeze')).toHaveLength(1);
});
