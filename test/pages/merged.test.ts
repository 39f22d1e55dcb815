import { beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { exemptionsOf } from '../support/exemptions.ts';
import { Visitor, words } from '../support/visitor.ts';

// The page of a pull request at the happy end: what the next step is, and what let it through.

const acme = acmeForAll();
const visitors: Record<string, Visitor> = {};
const roles = { bob: 'write', wendy: 'write' } as const;
const see = async (login: string, name: string) =>
  words(await visitors[login]!.open(`/repos/acme/${name}/pulls/1`));

beforeAll(async () => {
  acme.github.addUser('wendy');
  for (const login of ['ada', 'bob', 'wendy']) {
    visitors[login] = new Visitor(acme);
    await visitors[login]!.signIn(login);
  }
});

const merge = async (name: string) => {
  acme.github.merge(`acme/${name}`, 1, 'ada');
  await acme.quiet();
};

test('after an approval the next step is there, and after the merge, whose exemption let it through', async () => {
  const web = await acme.repository('web', [{}], { roles });
  await acme.freeze(web, { reason: 'Incident' });
  const exemptions = exemptionsOf(acme);
  const asked = await exemptions.exempt(web, 1, { reason: 'The fix' }, acme.github.addToken('bob'));
  await exemptions.decide('approve', web, asked, acme.github.addToken('ada'));
  await acme.quiet();
  const exempt = await visitors['bob']!.open('/repos/acme/web/pulls/1');
  expect(exempt.text).toContain(`href="${acme.github.url}/acme/web/pull/1">Merge on GitHub</a>`);
  expect(words(exempt)).toContain('Freezes that it is exempt from Incident');
  expect(words(exempt)).not.toContain('Other ongoing freezes');
  await merge('web');
  const merged = await see('bob', 'web');
  expect(merged).toMatch(
    /Merged Sun 1 Mar, .*?The exemption that bob requested and ada approved let it through\./,
  );
  expect(merged).not.toMatch(/Closed|Merge on GitHub/);
});

test.each([
  ['excluded', { exclude_conditions: ['label=hotfix'] }, 'Excluded from Release .'],
  ['not matched', { matching_conditions: ['label=risky'] }, 'It did not match the conditions of Release .'],
])('a merged one that a freeze leaves alone: %s', async (name, conditions, why) => {
  const repository = await acme.repository(name.replace(' ', '-'), [{ labels: ['hotfix'] }]);
  await acme.freeze(repository, conditions);
  await merge(name.replace(' ', '-'));
  expect(await see('ada', name.replace(' ', '-'))).toContain(why);
});

test('one that was merged before the freeze, one that went past it, and one that was closed', async () => {
  const early = await acme.repository('early', [{}]);
  await merge('early');
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await acme.freeze(early, { reason: 'Too late' });
  expect(await see('ada', 'early')).toMatch(
    /Merged Sun 1 Mar, .*That was before the beginning of Too late \./,
  );
  const past = await acme.repository('past', [{}], { protect: {} });
  await acme.freeze(past, { reason: 'Ignored' });
  await acme.advanceTo(new Date(acme.clock.now() + 5_000));
  await merge('past');
  expect(await see('ada', 'past')).toMatch(/Merged Sun 1 Mar, .*ada went past the freeze Ignored \./);
  const closed = await acme.repository('closed', [{}]);
  await acme.freeze(closed);
  acme.github.closePullRequest(closed, 1);
  await acme.quiet();
  expect(await see('ada', 'closed')).toContain('Closed Freezes block open pull requests only.');
});

test('nobody is told to ask themselves, and a request that waits is not asked for again', async () => {
  const api = await acme.repository('api', [{}], { roles });
  const as = acme.github.addToken('ada');
  const settings = { approvers: ['wendy'], two_person_exemptions: true };
  const set = await acme.call('PATCH', '/v1/repos/acme/api/settings', { as, body: settings });
  expect(set.status, set.text).toBe(200);
  await acme.freeze(api, { reason: 'Incident' });
  expect(await see('bob', 'api')).toContain('Request exemption…');
  await exemptionsOf(acme).exempt(api, 1, { reason: 'Mine' }, acme.github.addToken('wendy'));
  const own = await see('wendy', 'api');
  expect(own).toContain('This repository requires two people: another admin must approve the request.');
  expect(own).not.toContain('(wendy)');
  const others = await see('bob', 'api');
  expect(others).toContain('It waits until an admin of acme/api or an approver (wendy) approves it.');
  expect(others).not.toContain('Request exemption');
  const card = /By ada \+\d+ \d+ lines added −\d+ and \d+ deleted into main .*Why Incident /;
  expect(await see('ada', 'api')).toMatch(card);
  const list = words(await visitors['ada']!.open('/owners/acme/exemptions'));
  expect(list).toMatch(
    /acme\/api #1 Change number 1 By ada \+\d+ .*Blocked by Incident until removed ?\. .*Mine/,
  );
  expect(await see('ada', 'api')).toContain('Set an end or delete it on the page of the freeze');
  expect(await see('ada', 'api')).not.toMatch(/Ask an admin|tell one of them/);
});
