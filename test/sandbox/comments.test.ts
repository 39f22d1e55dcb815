import { createRequire } from 'node:module';
import { beforeAll, expect, test } from 'vitest';
import { acmeForAll, call, installationToken } from './acme.ts';

type Example = { comment: object; issue: object };
const known: { name: string; examples: Example[] }[] = createRequire(import.meta.url)(
  '@octokit/webhooks-examples',
);

// Comments on the conversation of a pull request, as GitHub documents them.

const world = acmeForAll();
let app: string;
beforeAll(async () => {
  const { github, installationId } = world;
  github.askForMore({ issues: 'read', pull_requests: 'write' }, ['issue_comment']);
  github.acceptPermissions('acme', github.app.permissions);
  app = await installationToken(github, installationId);
});

const open = () => world.github.openPullRequest('acme/web', { author: 'eve' }).number;
const path = (number: number) => `/repos/acme/web/issues/${number}/comments`;
const post = (number: number, body: unknown, token = app) =>
  call(world.github, token, 'POST', path(number), body);
const events = () => world.github.deliveries.filter(({ event }) => event === 'issue_comment');

test('the App comments, is named, and gets the event', async () => {
  const number = open();
  const { status, body } = await post(number, { body: 'Hello' });
  expect([status, body.body, body.user.login, body.user.type]).toEqual([
    201,
    'Hello',
    'holdfast[bot]',
    'Bot',
  ]);
  expect(body.performed_via_github_app.slug).toBe('holdfast');
  const listed = await call(world.github, app, 'GET', path(number));
  expect(listed.body.map(({ id }: { id: number }) => id)).toEqual([body.id]);
  const last = events().at(-1)!;
  expect([last.action, last.payload.comment.id, last.payload.issue.number]).toEqual([
    'created',
    body.id,
    number,
  ]);
  expect(last.payload.sender.login).toBe('holdfast[bot]');
});

test('its webhooks have what GitHub’s have', () => {
  const { github } = world;
  const number = open();
  const id = github.comment('acme/web', number, { by: 'bob', body: 'One' });
  github.editComment('acme/web', number, id, { by: 'ada', body: 'Two' });
  github.deleteComment('acme/web', number, id, 'ada');
  const [created, edited, deleted] = events().slice(-3);
  expect([created!.action, edited!.action, deleted!.action]).toEqual(['created', 'edited', 'deleted']);
  expect(edited!.payload.changes).toEqual({ body: { from: 'One' } });
  expect([edited!.payload.comment.user.login, edited!.payload.sender.login]).toEqual(['bob', 'ada']);
  expect(created!.payload.comment).toMatchObject({
    author_association: 'MEMBER',
    performed_via_github_app: null,
  });
  expect(created!.payload.issue.pull_request).toMatchObject({ merged_at: null });
  const [example] = known.find(({ name }) => name === 'issue_comment')!.examples;
  for (const part of ['comment', 'issue'] as const) {
    const missing = Object.keys(example![part]).filter((key) => !(key in created!.payload[part]));
    expect(missing, part).toEqual([]);
  }
});

test.each([
  ['no body', {}],
  ['an empty one', { body: '  ' }],
  ['more than 65,536 characters', { body: 'x'.repeat(65_537) }],
])('%s: 422', async (_, body) => {
  const number = open();
  expect(await post(number, body)).toMatchObject({ status: 422, body: { message: 'Validation Failed' } });
  expect(world.github.comments('acme/web', number)).toEqual([]);
});

test('exactly 65,536 characters are accepted, and a missing pull request is not found', async () => {
  expect((await post(open(), { body: 'x'.repeat(65_536) })).status).toBe(201);
  expect((await post(999, { body: 'x' })).status).toBe(404);
});

test('in a locked conversation, only people who can write comment, and no App', async () => {
  const { github, bob, eve } = world;
  const number = open();
  github.lock('acme/web', number);
  const message = 'Unable to create comment because issue is locked.';
  for (const token of [app, eve.token])
    expect(await post(number, { body: 'x' }, token)).toMatchObject({ status: 403, body: { message } });
  expect((await post(number, { body: 'x' }, bob.token)).status).toBe(201);
});

test('either of two permissions lets an App comment; reading takes less', async () => {
  const { github, installationId } = world;
  const number = open();
  const as = (permissions: object) => installationToken(github, installationId, { permissions });
  const status = async (token: string) => [
    (await call(github, token, 'GET', path(number))).status,
    (await post(number, { body: 'x' }, token)).status,
  ];
  expect(await status(await as({ pull_requests: 'write' }))).toEqual([200, 201]);
  expect(await status(await as({ issues: 'read', pull_requests: 'read' }))).toEqual([200, 403]);
  github.acceptPermissions('acme', { ...github.app.permissions, issues: 'write' });
  expect(await status(await as({ issues: 'write' }))).toEqual([200, 201]);
});

test('it counts against the writes that GitHub accepts in a minute', async () => {
  const { github } = world;
  const number = open();
  github.writeLimit.perMinute = 0;
  const answer = await post(number, { body: 'x' });
  github.writeLimit.perMinute = Infinity;
  expect(answer.status).toBe(403);
  expect(answer.headers.get('retry-after')).not.toBeNull();
});

test('a list begins where it is asked to', async () => {
  const { github } = world;
  const number = open();
  github.comment('acme/web', number, { by: 'bob', body: 'x' });
  const since = (at: string) => call(github, app, 'GET', `${path(number)}?since=${at}`);
  expect((await since('2000-01-01T00:00:00Z')).body).toHaveLength(1);
  expect((await since('2999-01-01T00:00:00Z')).body).toEqual([]);
});

test('installations that did not grant issues: read get no event of comments', () => {
  const { github } = world;
  const number = open();
  const before = events().length;
  github.acceptPermissions('acme', { ...github.app.permissions, issues: undefined } as never);
  github.comment('acme/web', number, { by: 'bob', body: 'x' });
  expect(events()).toHaveLength(before);
  github.acceptPermissions('acme', github.app.permissions);
  github.comment('acme/web', number, { by: 'bob', body: 'x' });
  expect(events()).toHaveLength(before + 1);
});
