import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { diagnose } from '../src/cli/commands/doctor.ts';
import type { FaultMatch } from '../sandbox/http/faults.ts';
import { forAll } from './support/for-all.ts';
import { type Holdfast, startHoldfast } from './support/holdfast.ts';

const undecodable = { kind: 'status', status: 401, words: 'A JSON web token could not be decoded' } as const;
const metricsToken = 'a-token-of-the-tests';

const inSeconds = ({ clock }: Holdfast, seconds: number) => new Date(clock.now() + seconds * 1000);

async function doctor({ app }: Holdfast, repository: string, token: string): Promise<string> {
  let out = '';
  const output = new Writable({ write: (chunk, _, done) => ((out += String(chunk)), done()) });
  await diagnose({ repository, url: app.url, token, isJson: false }, output);
  return out;
}

describe.each<[string, boolean, FaultMatch]>([
  ['everything that the App signs', true, ({ tokenKind }) => tokenKind === 'jwt'],
  ['only new tokens', false, { method: 'POST', path: /access_tokens$/ }],
])('GitHub refuses %s from the start on', (_, isAll, match) => {
  let ada = '';
  const holdfast = forAll(() =>
    startHoldfast(
      (github) => {
        github.faults.add({ ...undecodable, match });
        ada = github.addUser('ada').token;
        github.addOrganization('acme', { admins: ['ada'] });
        github.addRepository('acme/web', { protect: { main: ['holdfast/freeze'] } });
        github.openPullRequest('acme/web', { author: 'ada' });
        github.install('acme');
      },
      { metricsToken },
    ),
  );
  const freezes = '/v1/repos/acme/web/scheduled_freeze';
  const ready = async () => (await holdfast.call('GET', '/readyz')).body;
  const metric = async () => {
    const { app } = holdfast;
    const answer = await fetch(`${app.url}/metrics`, {
      headers: { Authorization: `Bearer ${metricsToken}` },
    });
    return /^holdfast_github_key_refused_seconds (\d+)$/m.exec(await answer.text())?.[1];
  };
  const refused = /GitHub refuses the App's key since 2026-03-01T09:00:0\dZ/;

  test('requests are answered, and nobody loses a right', async () => {
    await holdfast.advanceTo(inSeconds(holdfast, 10));
    const { status, text, headers } = await holdfast.call('GET', freezes, { as: ada });
    expect([status, headers.get('Retry-After')], text).toEqual([503, expect.any(String)]);
  });

  if (isAll)
    test('everybody is told', async () => {
      expect(await ready()).toEqual({
        status: 'ready',
        checks: { database: 'ok', job_queue: 'ok', clock: expect.anything() },
        reasons: [expect.stringMatching(refused)],
      });
      expect(await doctor(holdfast, 'acme/web', ada)).toMatch(refused);
      expect(Number(await metric())).toBeGreaterThan(5);
      const told = holdfast.logs.filter((line) => line.includes('GitHub refuses the App’s key'));
      expect(told).toHaveLength(1);
    });

  test('all is right within 75 s after GitHub accepts it again', async () => {
    await holdfast.advanceTo(inSeconds(holdfast, 300));
    holdfast.github.faults.clear();
    for (let seconds = 0; seconds < 75; seconds += 5) await holdfast.advanceTo(inSeconds(holdfast, 5));
    expect(holdfast.github.currentStatus('acme/web', 1)?.state).toBe('success');
    const body = { reason: 'Release', start: null, timezone: 'UTC' };
    const key = await holdfast.key('acme', 'admin');
    expect(await holdfast.call('POST', freezes, { as: key, body })).toMatchObject({ status: 201 });
    await holdfast.quiet();
    expect(holdfast.github.currentStatus('acme/web', 1)?.state).toBe('pending');
    expect(await ready()).not.toHaveProperty('reasons');
    expect(await metric()).toBe('0');
  });
});
