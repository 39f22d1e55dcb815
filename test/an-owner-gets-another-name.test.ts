// An organization or a person takes another name, and somebody else may take the old one.
import { beforeEach, expect, test } from 'vitest';
import { type Acme, acmeForAll } from './support/acme.ts';

const acme: Acme = acmeForAll();
let count = 0;
let [old, now]: [string, string] = ['', ''];
let key: string;
let web: string;

/** An organization of its own for each test: `old` is its name, `now` the one that it takes. */
beforeEach(async () => {
  [old, now] = [`old-${++count}`, `now-${count}`];
  acme.github.addOrganization(old, { admins: ['ada'] });
  acme.github.install(old);
  await acme.quiet();
  key = await acme.key(old, 'admin');
  web = repository(old, 'web');
  acme.github.openPullRequest(web, { author: 'ada', labels: ['hotfix'] });
  await acme.quiet();
});

const repository = (owner: string, name: string): string =>
  acme.github.addRepository(`${owner}/${name}`, { protect: { main: ['holdfast/freeze'] } }).fullName;
const list = (owner: string, as = key) => acme.call('GET', `/v1/repos/${owner}/web/scheduled_freeze`, { as });
const freeze = async (more: object = {}) => {
  const body = { reason: 'Release', start: null, timezone: 'UTC', ...more };
  const answer = await acme.call('POST', `/v1/repos/${old}/web/scheduled_freeze`, { as: key, body });
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
};
const later = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

/** Webhooks that GitHub does not send, because nobody subscribed to them. */
const silence = (...events: string[]) =>
  events.map((event) => acme.github.webhookFaults.add({ kind: 'drop', event }));

/** A stranger takes the old name, with a public repository of the same name and a pull request of the same number. */
function takeOldName(pullRequest: object = {}): string {
  acme.github.addUser(`stranger-${count}`);
  acme.github.addOrganization(old, { admins: [`stranger-${count}`] });
  const taken = repository(old, 'web');
  acme.github.openPullRequest(taken, { author: `stranger-${count}`, ...pullRequest });
  return taken;
}

test.each([
  ['organization', 'installation_target'],
  ['installation_target', 'organization'],
])('%s.renamed alone: keys work under the new name', async (_told, silent) => {
  const [fault] = silence(silent);
  await freeze();
  acme.github.renameOrganization(old, now);
  await acme.quiet();
  fault!.remove();
  expect(await list(now)).toMatchObject({
    status: 200,
    body: { scheduled_freezes: [{ reason: 'Release' }] },
  });
  expect((await list(old)).status).toBe(403);
  acme.github.openPullRequest(`${now}/web`, { author: 'ada' });
  await acme.quiet();
  expect(acme.frozen(`${now}/web`)).toEqual([1, 2]);
});

test('a person is renamed: installation_target alone says so', async () => {
  acme.github.addUser(`person-${count}`);
  acme.github.install(`person-${count}`);
  repository(`person-${count}`, 'web');
  await acme.quiet();
  const own = await acme.key(`person-${count}`, 'admin');
  acme.github.renameUser(`person-${count}`, `renamed-${count}`);
  await acme.quiet();
  expect((await list(`renamed-${count}`, own)).status).toBe(200);
});

test('without both events, the next event that names the owner teaches the name', async () => {
  const faults = silence('organization', 'installation_target');
  acme.github.renameOrganization(old, now);
  await acme.quiet();
  expect((await list(now)).status).toBe(403);
  // No freeze reads labels, so nothing else comes of it.
  acme.github.label(`${now}/web`, 1, 'risky');
  await acme.quiet();
  expect((await list(now)).status).toBe(200);
  for (const fault of faults) fault.remove();
});

test('events that did not arrive are made good within two minutes', async () => {
  const faults = ['organization', 'installation_target'].map((event) =>
    acme.github.webhookFaults.add({ kind: 'lose', event }),
  );
  acme.github.renameOrganization(old, now);
  for (const fault of faults) fault.remove();
  for (let minute = 0; minute < 2; minute++) await later(60);
  expect((await list(now)).status).toBe(200);
});

test('doctor says that an App of before does not receive installation_target', async () => {
  const { events } = acme.github.app;
  acme.github.app.events = events.filter((event) => event !== 'installation_target');
  const { body } = await acme.call('GET', `/v1/repos/${old}/web/enforcement`, { as: key });
  acme.github.app.events = events;
  const finding = body.findings.find(({ check }: { check: string }) => check === 'events');
  expect(finding).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('does not receive installation_target'),
    remedy: expect.stringContaining('Permissions & events'),
  });
});

test('somebody who takes the old name has none of its keys and freezes, and its own keys open nothing else', async () => {
  await freeze();
  acme.github.renameOrganization(old, now);
  takeOldName();
  acme.github.install(old);
  await acme.quiet();
  const theirs = await acme.key(old, 'admin');
  expect((await list(now)).status).toBe(200);
  expect((await list(old)).status).toBe(403);
  expect((await list(old, theirs)).body).toEqual({ scheduled_freezes: [] });
  expect((await list(now, theirs)).status).toBe(403);
});

test('no webhook told the rename, and a stranger has the old name: nothing of theirs counts', async () => {
  await freeze({ exclude_conditions: ['label=hotfix'] });
  const faults = silence('organization', 'installation_target', 'pull_request', 'repository', 'installation');
  acme.github.renameOrganization(old, now);
  // Under the old name, #1 is free of the label, and #2 has it.
  const taken = takeOldName();
  acme.github.openPullRequest(taken, { author: 'ada', labels: ['hotfix'] });
  const second = acme.github.openPullRequest(`${now}/web`, { author: 'ada' });
  await acme.quiet();
  for (const fault of faults) fault.remove();
  expect(acme.github.currentStatus(`${now}/web`, second.number)).toBeNull();

  // The hourly check asks under the old name, and believes nothing that it hears.
  await later(3_700);
  await later(5);
  await later(5);
  expect(acme.frozen(`${now}/web`)).toEqual([2]);
  expect(acme.shown(`${now}/web`, 1)?.state).toBe('success');
  for (const { headSha } of acme.github.pullRequests(taken))
    expect(acme.github.statusHistory(taken, headSha, 'holdfast/freeze')).toEqual([]);
  expect((await list(now)).status).toBe(200);
});

test('an event of ours that names no owner we know does not judge by a stranger’s pull request', async () => {
  await freeze({ exclude_conditions: ['label=hotfix'] });
  const faults = silence('organization', 'installation_target');
  acme.github.renameOrganization(old, now);
  takeOldName({ labels: ['hotfix'] });
  // Ours loses the label, theirs has it.
  acme.github.unlabel(`${now}/web`, 1, 'hotfix');
  await acme.quiet();
  await later(5);
  for (const fault of faults) fault.remove();
  expect(acme.frozen(`${now}/web`)).toEqual([1]);
});
