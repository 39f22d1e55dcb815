import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verify } from '@octokit/webhooks-methods';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acme } from './acme.ts';

const examples: { name: string; examples: object[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
);

interface Received {
  headers: Record<string, string>;
  body: string;
}

let world: Awaited<ReturnType<typeof acme>>;
let receiver: Server;
let received: Received[];
let answer: number;
beforeEach(async () => {
  received = [];
  answer = 202;
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  world = await acme();
  await world.github.settled();
  world.github.deliverTo(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`);
});
afterEach(async () => {
  await world.github.close();
  receiver.close();
});

const sent = () => received.map(({ headers, body }) => [headers['x-github-event'], JSON.parse(body).action]);

test('a delivery is signed and carries the headers of GitHub', async () => {
  const { github } = world;
  github.openPullRequest('acme/web', { author: 'eve', title: 'Zoë ❄' });
  await github.settled();
  const [{ headers, body }] = received as [Received];
  expect(await verify(github.app.webhookSecret, body, headers['x-hub-signature-256']!)).toBe(true);
  expect(await verify('another secret', body, headers['x-hub-signature-256']!)).toBe(false);
  expect(headers).toMatchObject({
    'x-github-event': 'pull_request',
    'x-github-delivery': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-github-hook-id': expect.stringMatching(/^\d+$/),
    'user-agent': expect.stringMatching(/^GitHub-Hookshot\//),
    'content-type': 'application/json',
  });
  expect(github.deliveries.at(-1)).toMatchObject({
    event: 'pull_request',
    action: 'opened',
    statusCode: 202,
  });
});

test('a redelivery has the GUID and the body of the first', async () => {
  const { github } = world;
  answer = 500;
  github.openPullRequest('acme/web', { author: 'eve' });
  await github.settled();
  const first = github.deliveries.at(-1)!;
  expect(first.statusCode).toBe(500);
  answer = 202;
  expect(await github.redeliver(first.guid)).toMatchObject({ redelivery: true, statusCode: 202 });
  expect(received).toHaveLength(2);
  expect(received[1]!.headers['x-github-delivery']).toBe(first.guid);
  expect(received[1]!.body).toBe(received[0]!.body);
});

test('every change to a pull request sends its event', async () => {
  const { github } = world;
  const { number, headSha } = github.openPullRequest('acme/web', { author: 'eve', labels: ['old'] });
  const after = github.push('acme/web', number);
  github.label('acme/web', number, 'hotfix');
  github.label('acme/web', number, 'hotfix');
  github.unlabel('acme/web', number, 'OLD');
  github.editTitle('acme/web', number, 'Better');
  github.retarget('acme/web', number, 'release');
  github.markDraft('acme/web', number);
  github.markReady('acme/web', number);
  github.enableAutoMerge('acme/web', number);
  github.dismissReview(
    'acme/web',
    number,
    github.review('acme/web', number, { by: 'bob', state: 'APPROVED' }),
  );
  github.closePullRequest('acme/web', number);
  github.reopenPullRequest('acme/web', number);
  const events = github.deliveries.filter(({ event }) => event.startsWith('pull_request'));
  expect(events.map(({ action }) => action)).toEqual([
    'opened',
    'synchronize',
    'labeled',
    'unlabeled',
    'edited',
    'edited',
    'converted_to_draft',
    'ready_for_review',
    'auto_merge_enabled',
    'submitted',
    'dismissed',
    'closed',
    'reopened',
  ]);
  expect(events[1]?.payload).toMatchObject({
    before: headSha,
    after,
    pull_request: { head: { sha: after } },
  });
  expect(events[4]?.payload.changes).toEqual({ title: { from: 'Change number 1' } });
  expect(events[5]?.payload.changes).toMatchObject({ base: { ref: { from: 'main' } } });
  expect(events[9]?.payload.review).toMatchObject({ state: 'approved', user: { login: 'bob' } });
});

test('GitHub sends only subscribed events of installations, and nothing during a suspension', async () => {
  const { github } = world;
  github.addRepository('eve/blog');
  github.openPullRequest('eve/blog', { author: 'eve' });
  github.removeFromInstallation('acme', ['vault']);
  github.privatize('acme/vault');
  github.suspend('acme');
  github.openPullRequest('acme/web', { author: 'eve' });
  github.unsuspend('acme');
  github.renameRepository('acme/web', 'site');
  github.uninstall('acme');
  await github.settled();
  expect(sent().toSorted()).toEqual(
    [
      ['installation_repositories', 'removed'],
      ['installation', 'suspend'],
      ['installation', 'unsuspend'],
      ['repository', 'renamed'],
      ['installation', 'deleted'],
    ].toSorted(),
  );
});

test('only the new owner gets an event of a transfer, and nobody one of a deletion', () => {
  const { github } = world;
  github.addOrganization('other');
  github.transferRepository('acme/vault', 'other');
  expect(github.deliveries.filter(({ event }) => event === 'repository')).toEqual([]);
  github.install('other');
  github.transferRepository('acme/web', 'other');
  expect(github.deliveries.at(-1)).toMatchObject({
    action: 'transferred',
    payload: {
      repository: { full_name: 'other/web' },
      changes: { owner: { from: { organization: { login: 'acme' } } } },
    },
  });
  const before = github.deliveries.length;
  github.deleteRepository('other/web');
  expect(github.deliveries).toHaveLength(before);
});

describe('faults', () => {
  test('drop and repeat', async () => {
    const { github } = world;
    github.webhookFaults.add({ kind: 'drop', action: 'labeled', times: 1 });
    github.webhookFaults.add({ kind: 'repeat', action: 'closed' });
    const { number } = github.openPullRequest('acme/web', { author: 'eve' });
    github.label('acme/web', number, 'lost');
    await github.settled();
    github.closePullRequest('acme/web', number);
    await github.settled();
    expect(sent().map(([, action]) => action)).toEqual(['opened', 'closed', 'closed']);
    expect(received[1]!.headers['x-github-delivery']).toBe(received[2]!.headers['x-github-delivery']);
    expect(github.deliveries.find(({ action }) => action === 'labeled')).toMatchObject({
      outcome: 'dropped',
    });
  });

  test('delay and reorder', async () => {
    const { github } = world;
    github.webhookFaults.add({ kind: 'reorder', action: 'opened' });
    const { number } = github.openPullRequest('acme/web', { author: 'eve' });
    github.label('acme/web', number, 'late');
    await github.settled();
    expect(sent().map(([, action]) => action)).toEqual(['labeled', 'opened']);
    const { remove } = github.webhookFaults.add({ kind: 'delay', ms: 50 });
    const began = performance.now();
    const before = sent().length;
    github.unlabel('acme/web', number, 'late');
    expect(sent()).toHaveLength(before);
    await github.settled();
    expect(performance.now() - began).toBeGreaterThan(45);
    remove();
  });

  test('a service that does not answer', async () => {
    const { github } = world;
    github.deliverTo('http://127.0.0.1:1/');
    github.openPullRequest('acme/web', { author: 'eve' });
    await github.settled();
    expect(github.deliveries.at(-1)).toMatchObject({ statusCode: null, outcome: 'failed' });
  });
});

describe('payloads have what the published examples of GitHub have', () => {
  /** Left out on purpose: links, counters and settings that no verdict could need. */
  const omitted =
    /_url$|^(_links|open_issues|.*_count|forks|watchers|size|language|license|has_\w+|homepage|topics|mirror_url|custom_properties|allow_\w+|web_commit_signoff_required|.*_title|.*_message|delete_branch_on_merge|use_squash_pr_title_as_default|description|default|stargazers|master_branch|is_template|email|deleted|gravatar_id)$/;
  const shapes: Record<string, string[]> = {
    pull_request: [
      '',
      'pull_request',
      'pull_request.head',
      'pull_request.base',
      'pull_request.user',
      'repository',
      'repository.owner',
      'sender',
    ],
    pull_request_review: ['', 'review', 'repository'],
    repository: ['', 'repository', 'repository.owner'],
    status: ['', 'repository'],
    installation: ['', 'installation', 'installation.account'],
    installation_repositories: ['', 'installation'],
    merge_group: ['', 'merge_group', 'merge_group.head_commit', 'repository'],
  };

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- payloads of every event
  const at = (value: any, path: string) =>
    path
      .split('.')
      .filter(Boolean)
      .reduce((part, key) => part?.[key], value);

  /** Keys that every example of this event has, so that fields of one action are not asked of another. */
  function usual(event: string, path: string): string[] {
    const all = examples.find(({ name }) => name === event)!.examples.map((example) => at(example, path));
    const objects = all.filter((each) => each && typeof each === 'object');
    return Object.keys(objects[0] ?? {}).filter(
      (key) => objects.every((each) => key in each) && !omitted.test(key),
    );
  }

  test.each(Object.entries(shapes))('%s', (event, paths) => {
    const { github } = world;
    const { number } = github.openPullRequest('acme/web', { author: 'eve' });
    github.review('acme/web', number, { by: 'bob', state: 'APPROVED' });
    github.postStatus('acme/web', number, { by: 'bob', state: 'success' });
    github.enableMergeQueue('acme/web', 'main');
    github.enqueue('acme/web', number);
    github.renameRepository('acme/web', 'site');
    github.removeFromInstallation('acme', ['vault']);
    const { payload } = github.deliveries.find((delivery) => delivery.event === event)!;
    const missing = paths.flatMap((path) =>
      usual(event, path)
        .filter((key) => !(key in at(payload, path)))
        .map((key) => `${path}.${key}`),
    );
    expect(missing).toEqual([]);
    expect(payload.installation.id).toBe(world.installationId);
  });
});
