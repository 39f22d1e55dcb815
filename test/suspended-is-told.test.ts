import { beforeAll, expect, test } from 'vitest';
import { DatabaseTrouble } from '../src/database/trouble.ts';
import { acmeForAll } from './support/acme.ts';
import { Visitor, words } from './support/visitor.ts';

// A suspended installation and a wrong webhook secret stop freezes without a line of the log: metrics and pages say it.

const metricsToken = 'a-token-of-the-tests';
const acme = acmeForAll({ metricsToken });
const people = new Map<string, Visitor>();
const page = '/repos/acme/web';

async function metric(name: string): Promise<string | undefined> {
  await acme.advanceTo(new Date(acme.clock.now() + 15_000));
  const headers = { Authorization: `Bearer ${metricsToken}` };
  const text = await (await fetch(`${acme.app.url}/metrics`, { headers })).text();
  const line = text.split('\n').find((each) => each.startsWith(`holdfast_${name} `));
  return line?.split(' ')[1];
}

const ready = async () => {
  const { status, body } = await acme.call('GET', '/readyz');
  return [status, body.reasons ?? []];
};

beforeAll(async () => {
  acme.github.addUser('rita');
  await acme.repository('web', [{}], { private: true, roles: { rita: 'admin', bob: 'write' } });
  for (const login of ['ada', 'rita', 'bob']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    people.set(login, visitor);
  }
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const rita = acme.github.addToken('rita', { scopes: ['repo'] });
  await acme.call('POST', `/v1${page}/scheduled_freeze`, { as: rita, body });
  await acme.quiet();
  expect((await people.get('ada')!.open(page)).status).toBe(200);
});

test('the repository’s page tells its admins that the installation is suspended, and nobody else', async () => {
  expect(await metric('installations_suspended')).toBe('0');
  expect(await ready()).toEqual([200, []]);
  acme.github.suspend('acme');
  await acme.quiet();
  // It takes requests all the same.
  expect(await ready()).toEqual([
    200,
    [expect.stringMatching(/^Installations that are suspended, so that nothing is held there: 1\./)],
  ]);
  // Ada looked at the page within the hour; Rita froze the repository.
  for (const login of ['ada', 'rita']) {
    const { status, text } = await people.get(login)!.open(page);
    expect([login, status]).toEqual([login, 409]);
    expect(words({ text })).toContain(
      'Holdfast’s installation on acme is suspended. No freeze of acme/web begins or ends on GitHub until somebody unsuspends it.',
    );
    expect(text).toMatch(/href="[^"]*\/organizations\/acme\/settings\/installations\/\d+"/);
  }
  for (const visitor of [people.get('bob')!, new Visitor(acme)])
    expect([302, 404]).toContain((await visitor.open(page)).status);
  expect(await metric('installations_suspended')).toBe('1');
  acme.github.unsuspend('acme');
  await acme.quiet();
  expect((await people.get('ada')!.open(page)).status).toBe(200);
});

test('webhooks that are refused for their signature are counted from GitHub’s own list, and logged', async () => {
  const count = 'webhooks_undelivered_total{reason="signature"}';
  expect(await metric(count)).toBe('0');
  const { webhookSecret } = acme.github.app;
  acme.github.app.webhookSecret = 'another secret';
  acme.github.openPullRequest('acme/web', { author: 'ada' });
  await acme.quiet();
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  const refused = expect.stringMatching(/^GitHub could not deliver its newest webhooks\. If WEBHOOK_SECRET/);
  await acme.quiet();
  expect(await ready()).toEqual([200, [refused]]);
  acme.github.app.webhookSecret = webhookSecret;
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  acme.github.openPullRequest('acme/web', { author: 'ada' });
  await acme.quiet();
  expect(await ready()).toEqual([200, []]);
  expect(Number(await metric(count))).toBeGreaterThan(0);
  const told = acme.logs.filter((line) => line.includes('WEBHOOK_SECRET differs from the secret'));
  expect([...new Set(told.map((line) => (JSON.parse(line) as { level: number }).level))]).toEqual([50]);
});

test('jobs that nobody takes are told, and pages say that nothing can be saved', async () => {
  const { deps } = acme.app;
  await deps.sql.query(
    'overdue',
    `INSERT INTO jobs (task, key, about, data, attempt, due_at)
     VALUES ('nobody', 'nobody', '', '0', 0, job_now() - interval '10 minutes')`,
  );
  expect(await ready()).toEqual([200, [expect.stringMatching(/jobs are due since/)]]);
  await deps.sql.query('done', `DELETE FROM jobs WHERE key = 'nobody'`);
  deps.trouble.note(new DatabaseTrouble('read_only', false));
  for (const path of ['/', '/repos/acme', page]) {
    const { text } = await people.get('ada')!.open(path);
    expect(words({ text }), path).toContain('The database is read-only, so nothing can be saved');
  }
  deps.trouble.end('read_only');
  expect((await people.get('ada')!.open('/')).text).not.toContain('read-only');
});
