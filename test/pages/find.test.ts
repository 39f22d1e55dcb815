import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// What somebody finds by a part of its name: only what they can read.

const acme = acmeForAll();
const visitors: Record<string, Visitor> = {};

const see = async (login: string, path: string) => {
  const seen = await visitors[login]!.open(path);
  expect(seen.status).toBe(200);
  return { text: seen.text, said: words(seen) };
};

beforeAll(async () => {
  const roles = { bob: 'write' } as const;
  await acme.repository('web', [{ title: 'Refunds' }, { title: 'Docs' }], { roles });
  await acme.repository('api', [], { roles });
  const plan = {
    ...{ name: 'Nights', reason: 'Nobody is here', repositories: { include: ['api'] }, timezone: 'UTC' },
    ...{ start: '2026-03-02T04:56:00', end: '2026-03-02T07:56:00' },
  };
  await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: plan });
  for (const login of ['ada', 'bob']) {
    visitors[login] = new Visitor(acme);
    await visitors[login].signIn(login);
  }
});

test.each([
  ['refund', '#1 Refunds web'],
  ['#2', '#2 Docs web'],
  ['Nights', 'Nights plan of acme'],
  ['acme/ap', 'acme/api repository'],
  ['freeze', 'Freeze now acme'],
  ['bob', 'bob what they did in acme'],
  ['@web', '@web what they did in acme'],
])('%s finds %s', async (q, found) => {
  const { text } = await see('ada', `/find?${new URLSearchParams({ q })}`);
  const list = words({ text: /<ul id="found"[^]*?<\/ul>/.exec(text)![0] });
  expect(list).toContain(found);
  expect(list).toContain(`${q} in Help`);
});

test('the name of something else is no person', async () => {
  const { said } = await see('ada', '/find?q=web');
  expect(said).toContain('acme/web repository');
  expect(said).not.toContain('what they did');
});

test('nobody finds what they cannot read', async () => {
  await acme.repository('vault', [{ title: 'Secret refund' }], { private: true });
  const { said } = await see('bob', '/find?q=refund');
  expect(said).toContain('#1 Refunds');
  expect(said).not.toMatch(/Secret|vault/);
  expect((await see('bob', '/find?q=vault')).said).not.toMatch(/acme\/vault/);
  const nobody = words(await new Visitor(acme).open('/find?q=refund'));
  expect(nobody).not.toContain('Refunds');
});

test.each(['/find?q=', '/repos/acme?q=', '/owners/acme/audit?by=', '/owners/acme/freeze?live&timezone='])(
  '%s with what the database cannot store is refused',
  async (path) => {
    expect((await visitors.ada!.open(`${path}web%00`)).status).toBe(422);
  },
);
