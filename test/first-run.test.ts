import { afterEach, expect, test } from 'vitest';
import { type FirstRun, secretKey, type Shown, startFirstRun, Visitor } from './support/first-run.ts';

// From nothing to a freeze that holds, as a person does it: the setup page, GitHub, and back.

let run: FirstRun;
afterEach(() => run.close());

/** Everything up to the button at GitHub that makes the App. */
async function toGitHub(visitor: Visitor, wishes: Record<string, string> = {}): Promise<Shown> {
  const form = await visitor.get(`${run.app.url}/setup`);
  expect(form.status, form.text).toBe(200);
  const review = await visitor.submit(form, { organization: 'acme', name: 'Holdfast of acme', ...wishes });
  expect(review.status, review.text).toBe(200);
  const create = await visitor.submit(review);
  expect(create.text).toContain('Create GitHub App');
  return create;
}
const setUp = async (visitor = new Visitor()) => visitor.submit(await toGitHub(visitor), { as: 'ada' });

test('an App is made, its credentials are sealed, and a freeze holds, without a restart', async () => {
  run = await startFirstRun();
  const { app, github, database } = run;
  const done = await setUp();
  expect(done.status, done.text).toBe(200);
  expect(done.text).toContain('Holdfast of acme is connected');
  const install = /href="([^"]+\/installations\/new)"/.exec(done.text)![1]!;

  github.addRepository('acme/web', { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest('acme/web', { author: 'ada' });
  const installed = await new Visitor().post(install, { account: 'acme' });
  expect(installed.url).toContain(`${app.url}/?installation_id=`);
  const ada = github.addToken('ada');
  const freeze = () =>
    fetch(`${app.url}/v1/repos/acme/web/scheduled_freeze`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ada}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ reason: 'Release', start: null, timezone: 'UTC' }),
    });
  expect((await freeze()).status).toBe(201);
  await run.quiet();
  expect(github.currentStatus('acme/web', 1)?.state).toBe('pending');
  expect(github.deliveries.every(({ statusCode }) => statusCode === 202)).toBe(true);

  const [row] = await database.prisma.appCredentials.findMany();
  expect(row).toMatchObject({ appId: BigInt(github.app.id), slug: 'holdfast-of-acme' });
  const secrets = [github.app.privateKey, github.app.webhookSecret, github.app.clientSecret!, secretKey];
  for (const secret of secrets) {
    expect(Object.values(row!).join()).not.toContain(secret.slice(0, 40));
    expect(run.logs.join()).not.toContain(secret.slice(0, 40));
  }
});
