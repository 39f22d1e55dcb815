import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';
import { grantDeployments } from '../support/deployments.ts';

const acme = acmeForAll();
let ada: CommandLine;
let wes: CommandLine;
beforeAll(async () => {
  acme.github.addUser('wes');
  ada = commandLineFor(acme, acme.github.addToken('ada'));
  wes = commandLineFor(acme, acme.github.addToken('wes'));
  await acme.repository('web', [{}, {}, {}], { roles: { wes: 'write' } });
  await acme.freeze('acme/web');
});
afterEach(() => acme.quiet());
afterAll(async () => {
  ada.close();
  wes.close();
});

test('an admin exempts a pull request, for a time that is printed first', async () => {
  const allowed = await ada.holdfast(['allow', 'acme/web#1', '-m', 'Fixes INC-4711', '--for', '4h']);
  expect([allowed.code, allowed.err]).toEqual([
    0,
    'Exempting acme/web#1 until 2026-03-01 14:00 Europe/Paris.\n',
  ]);
  expect(allowed.out).toContain('acme/web#1 is exempt until 2026-03-01 14:00 Europe/Paris.');
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([2, 3]);
});

test('a writer requests, and an admin finds and approves it only by its id', async () => {
  const asked = await wes.holdfast(['allow', 'acme/web#2', '-m', 'Please', '--json']);
  expect(asked.json()).toMatchObject({
    repository: 'acme/web',
    exemption: { state: 'requested', pull_request: 2 },
  });
  const { id } = asked.json().exemption;
  const waiting = await ada.holdfast(['requests', 'acme']);
  expect(waiting.out.trimEnd().split('\t')).toEqual([
    ...['acme/web#2', 'requested', 'wes', '2026-03-02 10:00 Europe/Paris', 'Please', id],
  ]);
  const approved = await ada.holdfast(['approve', id]);
  expect([approved.code, approved.out]).toEqual([
    0,
    expect.stringContaining('acme/web#2 is approved: Please'),
  ]);
  await acme.quiet();
  expect(acme.frozen('acme/web')).not.toContain(2);
  const again = await ada.holdfast(['approve', id]);
  expect(again.code).toBe(1);
  const taken = await ada.holdfast(['deny', id, '--revoke', '-m', 'It broke staging', '--json']);
  expect(taken.json().exemption).toMatchObject({ state: 'revoked', decision_reason: 'It broke staging' });
  await acme.quiet();
  expect(acme.frozen('acme/web')).toContain(2);
});

test('a request is denied with a reason, and a writer decides nothing', async () => {
  const asked = await wes.holdfast(['allow', 'acme/web#3', '-m', 'Please', '--json']);
  const { id } = asked.json().exemption;
  expect((await wes.holdfast(['approve', id])).code).toBe(1);
  expect((await ada.holdfast(['deny', id, '--in', 'acme/web'])).code).toBe(2);
  const denied = await ada.holdfast(['deny', id, '-m', 'It can wait', '--in', 'acme/web', '--json']);
  expect(denied.json().exemption.state).toBe('denied');
  expect((await ada.holdfast(['requests', 'acme/web'])).out).toBe(
    'Nothing waits for a decision in acme/web.\n',
  );
  const all = (await ada.holdfast(['requests', 'acme/web', '--state', 'all', '--json'])).json();
  expect(all.exemptions.map((each: { exemption: { state: string } }) => each.exemption.state)).toContain(
    'denied',
  );
});

test('a deployment that waits is listed, and let go by its run', async () => {
  await grantDeployments(acme);
  acme.github.addEnvironment('acme/web', 'production');
  await acme.freeze('acme/web', { holds: ['deployments'] });
  const run = acme.github.runWorkflow('acme/web', { environments: ['production'] });
  await acme.quiet();
  const waiting = await wes.holdfast(['deployments', 'acme/web']);
  expect(waiting.out.trimEnd().split('\t')).toEqual([
    ...['acme/web', 'production', 'waiting', '2026-03-01 10:00 Europe/Paris', 'Deploy'],
    ...[run.sha.slice(0, 7), String(run.id)],
  ]);
  const allow = ['allow', 'acme/web', '--environment', 'production', '-m', 'Fixes INC-9'];
  const asked = await wes.holdfast([...allow, '--run', String(run.id), '--json']);
  const { id, state } = asked.json().exemption;
  expect(state).toBe('requested');
  const name = `acme/web to production (run ${run.id})`;
  expect((await ada.holdfast(['requests', 'acme'])).out).toMatch(`${name}\trequested\twes`);
  const approved = await ada.holdfast(['approve', id]);
  expect([approved.code, approved.out]).toEqual([
    0,
    expect.stringContaining(`${name} is approved: Fixes INC-9`),
  ]);
  await acme.quiet();
  expect(acme.github.jobsOf('acme/web', run.id)).toEqual(['in_progress']);
  expect((await ada.holdfast(['deployments', 'acme/web'])).out).toBe('No deployment waits in acme/web.\n');

  const sha = 'e'.repeat(40);
  const ahead = await ada.holdfast([...allow, '--commit', sha]);
  expect(ahead.out).toContain('acme/web to production (eeeeeee) is exempt until');
  const given = (await ada.holdfast(['requests', 'acme/web', '--state', 'approved', '--json'])).json();
  const [{ exemption }] = given.exemptions.filter(({ exemption: { sha: of } }: never) => of === sha);
  const revoke = ['deny', exemption.id, '--revoke', '--in', 'acme', '-m', 'Wrong one', '--json'];
  expect((await wes.holdfast(revoke)).code).toBe(1);
  expect((await ada.holdfast(revoke)).json().exemption.state).toBe('revoked');
});

test.each([
  [['allow', 'acme/web', '--environment', 'production', '-m', 'x'], 'Add either --commit'],
  [['allow', 'acme/web', '--environment', 'p', '--run', 'x', '-m', 'x'], 'Add either --commit'],
  [['allow', 'acme/web#1', '--run', '7', '-m', 'x'], 'Add --environment'],
  [
    ['allow', 'acme/web', '--environment', 'p', '--run', '7', '--any-head', '-m', 'x'],
    'are for pull requests',
  ],
  [['allow', 'acme/web', '-m', 'x'], 'is not a pull request. Write one such as acme/web#5'],
  [['allow', 'acme/web#1', '-m', 'x', '--until', '08:00'], 'which is past'],
  [['approve', 'not-an-id'], '"not-an-id" is not an ID'],
])('%j is used wrongly', async (words, why) => {
  const { code, err } = await ada.holdfast(words);
  expect([code, err]).toEqual([2, expect.stringContaining(why)]);
});
