import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
let eve: string;
beforeAll(async () => {
  const { github } = acme;
  github.addUser('gil');
  eve = github.addUser('eve').token;
  for (const login of ['globex', 'initech']) github.addOrganization(login, { admins: ['gil'] });
  for (const login of ['globex', 'initech']) github.addRepository(`${login}/site`);
  // Initech has never installed it.
  github.install('globex');
  await acme.quiet();
  github.addRepository('globex/known');
  await acme.quiet();
  github.webhookFaults.add({ kind: 'drop', event: 'repository' });
  github.addRepository('globex/late');
  github.addRepository('initech/late');
  github.addRepository('initech/known');
  github.suspend('globex');
  await acme.quiet();
});

test.each([
  ['GET', '/v1/repos/OWNER/site/scheduled_freeze'],
  ['GET', '/v1/repos/OWNER/known/scheduled_freeze'],
  ['GET', '/v1/repos/OWNER/late/scheduled_freeze'],
  ['GET', '/v1/repos/OWNER/late/logs'],
  ['GET', '/v1/default_products/OWNER'],
  ['GET', '/v1/repos/OWNER'],
  ['GET', '/v1/applications/OWNER'],
])(
  '%s %s gives a stranger the same answer for a suspended owner as for an unknown one',
  async (method, path) => {
    const ask = async (owner: string) => {
      const { status, text } = await acme.call(method, path.replace('OWNER', owner), { as: eve });
      return { status, text: text.replaceAll(owner, 'OWNER') };
    };
    const [suspended, unknown] = [await ask('globex'), await ask('initech')];
    expect(suspended).toEqual(unknown);
    expect(unknown.status).toBe(404);
  },
);

test('its admins learn that it is suspended', async () => {
  const gil = acme.github.addToken('gil', { scopes: ['repo', 'admin:org'] });
  const body = { reason: 'Release', start: null, timezone: 'UTC' };
  const answer = await acme.call('POST', '/v1/repos/globex/known/scheduled_freeze', { as: gil, body });
  expect([answer.status, answer.body.detail]).toEqual([409, expect.stringContaining('is suspended')]);
  const key = await acme.key('globex', 'admin');
  const late = await acme.call('GET', '/v1/repos/globex/late/scheduled_freeze', { as: key });
  expect(late.status).toBe(409);
});
