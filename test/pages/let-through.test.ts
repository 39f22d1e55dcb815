import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// On the page of a pull request, writers request exemptions, and admins exempt, approve, deny and revoke.

const acme = acmeForAll();
const visitors = new Map<string, Visitor>();
let web: string;
let number = 0;
beforeAll(async () => {
  for (const login of ['wendy', 'rita', 'carol']) acme.github.addUser(login);
});
beforeEach(async () => {
  // A person can make a limited number of changes in a minute.
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  web = await acme.repository(`web-${number++}`, [{ title: 'The fix' }, {}], {
    roles: { wendy: 'write', rita: 'read', carol: 'admin' },
  });
  await acme.freeze(web, { reason: 'Incident' });
  for (const login of ['ada', 'wendy', 'rita', 'carol']) {
    const visitor = new Visitor(acme);
    await visitor.signIn(login);
    visitors.set(login, visitor);
  }
});

const page = () => `/repos/${web}/pulls/1`;
const see = async (login: string): Promise<string> => words(await visitors.get(login)!.open(page()));
const ask = async (login: string, fields: Record<string, string> = {}) => {
  const answer = await visitors
    .get(login)!
    .send(`${page()}/exemptions`, { reason: 'INC-4711 fix', hours: '4', ...fields });
  await acme.quiet();
  return answer;
};
const decide = async (login: string, decision: string, fields: Record<string, string> = {}) => {
  const [{ id }] = (await exemptions()) as [{ id: string }];
  const answer = await visitors.get(login)!.send(`${page()}/exemptions/${id}/${decision}`, fields);
  await acme.quiet();
  return answer;
};
const exemptions = async (): Promise<Record<string, unknown>[]> =>
  (await acme.call('GET', `/v1/repos/${web}/exemptions`, { as: acme.admin })).body.exemptions;

test('a writer requests, an admin approves, and the pull request can merge', async () => {
  expect(await see('wendy')).toContain('Request exemption…');
  const sent = await ask('wendy');
  expect(sent).toMatchObject({ status: 303, location: `${page()}?said=requested` });
  expect(words(await visitors.get('wendy')!.open(sent.location))).toContain(
    'Requested. It waits until an admin or an approver decides.',
  );
  expect(acme.frozen(web)).toEqual([1, 2]);
  expect(await exemptions()).toMatchObject([
    {
      state: 'requested',
      reason: 'INC-4711 fix',
      requested_by: { type: 'user', name: 'wendy' },
      expires_at: new Date(Math.floor(acme.clock.now()) + 4 * 3_600_000).toISOString(),
    },
  ]);
  const asked = await see('ada');
  expect(asked).toContain('wendy requests an exemption until');
  expect(asked).toContain('INC-4711 fix');
  expect(asked).toContain('Deny…');
  const waits = await see('wendy');
  expect(waits).not.toContain('Deny…');
  expect(waits).toMatch(
    new RegExp(
      `Requested Sun 1 Mar, \\d\\d:\\d\\d UTC ?\\. It waits until an admin of ${web} approves it\\. .* Holdfast sends no mail, so tell one of them\\. Withdraw…`,
    ),
  );
  expect((await decide('ada', 'approve')).status).toBe(303);
  expect(acme.frozen(web)).toEqual([2]);
  expect(await exemptions()).toMatchObject([{ state: 'approved', decided_by: { name: 'ada' } }]);
  const through = await see('wendy');
  expect(through).toMatch(
    /Exempt until .* UTC .*, because INC-4711 fix . Merge on GitHub Requested by wendy, approved by ada\./,
  );
  expect(through).not.toContain('Free No freeze');
  expect(through).toMatch(/History .*ada approved the exemption for #1.*wendy requested an exemption for #1/);
});

test('signed out: the button leads to sign-in, and back to the open form', async () => {
  const visitor = new Visitor(acme);
  const { text } = await visitor.open(page());
  expect(words({ text })).toMatch(/How to get through Request exemption People who can write to/);
  const [, to = ''] = /class="button" href="\/auth\/sign-in\?to=([^"]*)"/.exec(text)!;
  const back = await visitor.signIn('wendy', decodeURIComponent(to));
  expect(back.location).toBe(`${page()}?exempt=yes`);
  const form = /<details class="confirm"\s+open>\s*<summary class="button\s*">\s*Request exemption…/;
  expect((await visitor.open(back.location)).text).toMatch(form);
  expect((await visitor.open(page())).text).not.toMatch(form);
});

test('the page says who requests an exemption, and who approves it', async () => {
  expect(await see('ada')).toContain(`You are an admin of ${web}, so your exemption counts at once.`);
  expect(await see('wendy')).toContain(`An admin of ${web} approves the exemption.`);
  const rita = await see('rita');
  expect(rita).toContain(
    `People who can write to ${web} request an exemption, and an admin approves it. You cannot write to it, so ask one of them.`,
  );
  expect(rita).not.toContain('Request exemption');
});

test('an admin exempts at once, and revokes', async () => {
  expect(await see('ada')).toContain('Exempt…');
  expect((await ask('ada', { any_head: 'yes' })).status).toBe(303);
  expect(await exemptions()).toMatchObject([{ state: 'approved', any_head: true }]);
  expect(acme.frozen(web)).toEqual([2]);
  expect((await decide('ada', 'revoke', { reason: 'Fixed otherwise' })).status).toBe(303);
  expect(acme.frozen(web)).toEqual([1, 2]);
});

test('an admin denies, with a reason', async () => {
  await ask('wendy');
  const silent = await decide('ada', 'deny', { reason: ' ' });
  expect(silent.status).toBe(422);
  expect(await exemptions()).toMatchObject([{ state: 'requested' }]);
  expect((await decide('ada', 'deny', { reason: 'It can wait' })).status).toBe(303);
  expect(await exemptions()).toMatchObject([{ state: 'denied', decision_reason: 'It can wait' }]);
  const denied = await see('wendy');
  expect(denied).toMatch(/ada denied the exemption that wendy requested Sun 1 Mar, .* : It can wait \./);
  expect(denied).toMatch(/ada denied an exemption for #1 .*It can wait/);
});

test('the person who requested it withdraws it, and nobody else except admins', async () => {
  await ask('wendy');
  expect(await see('wendy')).toContain('Withdraw…');
  expect((await decide('wendy', 'revoke', { reason: 'Not needed' })).status).toBe(303);
  expect(await exemptions()).toMatchObject([{ state: 'revoked' }]);
  await ask('ada');
  expect((await decide('wendy', 'revoke', { reason: 'Mine' })).status).toBe(422);
  expect((await exemptions())[0]).toMatchObject({ state: 'approved' });
});

test('if two people are required, it takes another admin', async () => {
  const body = { two_person_exemptions: true };
  await acme.call('PATCH', `/v1/repos/${web}/settings`, { as: acme.admin, body });
  expect(await see('ada')).toContain('Request exemption…');
  await ask('ada');
  expect(await exemptions()).toMatchObject([{ state: 'requested' }]);
  expect(await see('ada')).toContain(
    'This repository requires two people: another admin must approve the request.',
  );
  const { status, text } = await decide('ada', 'approve');
  expect(status).toBe(422);
  expect(text).toContain('ada requested this exemption.');
  expect(acme.frozen(web)).toEqual([1, 2]);
  expect(await see('carol')).toContain('Approve');
  expect((await decide('carol', 'approve')).status).toBe(303);
  expect(acme.frozen(web)).toEqual([2]);
});

test('a person who cannot write sees no forms, and sends none', async () => {
  await ask('wendy');
  for (const text of [await see('rita'), (await new Visitor(acme).open(page())).text]) {
    expect(text).not.toContain('let through');
    expect(text).not.toContain('INC-4711');
  }
  expect((await ask('rita')).status).toBe(403);
  for (const decision of ['approve', 'deny', 'revoke'])
    expect((await decide('rita', decision, { reason: 'Mine' })).status).toBe(403);
  for (const decision of ['approve', 'deny'])
    expect((await decide('wendy', decision, { reason: 'Mine' })).status).toBe(422);
  expect(await exemptions()).toMatchObject([{ state: 'requested' }]);
  expect(acme.frozen(web)).toEqual([1, 2]);
});

test('forms of another site are refused', async () => {
  const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
  const fields = { reason: 'Mine', hours: '4' };
  expect((await visitors.get('ada')!.send(`${page()}/exemptions`, fields, foreign)).status).toBe(403);
  expect(await exemptions()).toEqual([]);
});

test('shows errors, and keeps the typed text', async () => {
  const { status, text } = await ask('wendy', { reason: '', any_head: 'yes' });
  expect(status).toBe(422);
  expect(text).toContain('id="reason-problem"');
  expect(text).toMatch(/name="any_head" value="yes"\s+checked/);
  expect((await ask('wendy', { hours: '9999' })).status).toBe(422);
  acme.github.closePullRequest(web, 1);
  await acme.quiet();
  expect((await ask('wendy')).status).toBe(422);
  expect(await exemptions()).toEqual([]);
});

test('an exemption is decided on the page of its own pull request', async () => {
  await ask('wendy');
  const [{ id }] = (await exemptions()) as [{ id: string }];
  const elsewhere = `/repos/${web}/pulls/2/exemptions/${id}/approve`;
  expect((await visitors.get('ada')!.send(elsewhere, {})).status).toBe(404);
  expect(await exemptions()).toMatchObject([{ state: 'requested' }]);
});

test('nobody exempts commits that they did not see', async () => {
  const ada = visitors.get('ada')!;
  const [, seen = ''] = /name="head_sha" value="(\w+)"/.exec((await ada.open(page())).text)!;
  expect(seen).toBe(acme.github.pullRequest(web, 1).headSha);
  acme.github.push(web, 1);
  const pushed = acme.github.pullRequest(web, 1).headSha;
  await acme.quiet();
  const refused = await ask('ada', { head_sha: seen });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain(`its head is ${pushed}, not ${seen}`);
  expect(await exemptions()).toEqual([]);
  expect(await ask('ada', { head_sha: pushed })).toMatchObject({ status: 303 });
});
