import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor } from '../support/visitor.ts';

// Admins choose everything that an owner and a repository can have on a page, without curl.

const acme = acmeForAll();
let ada: Visitor;
let rita: Visitor;
const ofOwner = '/owners/acme/settings';
const ofWeb = '/repos/acme/web/settings';

beforeAll(async () => {
  for (const login of ['rita', 'wes']) acme.github.addUser(login);
  await acme.repository('web', [{}], { roles: { rita: 'admin', wes: 'write' } });
  [ada, rita] = [new Visitor(acme), new Visitor(acme)];
  await ada.signIn('ada');
  await rita.signIn('rita');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

const versionOf = (text: string): string => /name="version"\s+value="([^"]*)"/.exec(text)![1]!;
const settingsOf = async (path: string) => (await acme.call('GET', path, { as: acme.admin })).body;
const isChosen = (text: string, name: string, value: string) =>
  new RegExp(`name="${name}"\\s+value="${value}"\\s+checked`).test(text);

/** Opens the page, and sends its form of settings. */
async function save(visitor: Visitor, path: string, fields: Record<string, string>) {
  const { text } = await visitor.open(path);
  return visitor.send(path, { do: 'settings', version: versionOf(text), ...fields });
}

test('the bar of an owner leads to its settings', async () => {
  expect((await ada.open('/repos/acme')).text).toContain(`href="${ofOwner}"`);
});

test('an owner sets defaults, and a repository has them until it sets its own', async () => {
  const fields = { freezers: '', freezers_list: 'wes', approvers_list: '', comment_commands: 'requests' };
  const more = { two_person_exemptions: 'true', longest_open_end_hours: '72' };
  const saved = await save(ada, ofOwner, { ...fields, ...more });
  expect([saved.status, saved.location]).toEqual([303, `${ofOwner}?said=saved`]);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({
    ...{ two_person_exemptions: true, longest_open_end_hours: 72, comment_commands: 'requests' },
    freezers: ['wes'],
  });
  const { text } = await rita.open(ofWeb);
  expect(isChosen(text, 'two_person_exemptions', 'inherit')).toBe(true);
  const own = { two_person_exemptions: 'false', comment_commands: 'inherit', longest_open_end_hours: '' };
  await save(rita, ofWeb, { ...own, freezers: 'own', freezers_list: 'rita\nwes', approvers: 'inherit' });
  expect(await settingsOf('/v1/repos/acme/web/settings')).toMatchObject({
    ...{ two_person_exemptions: false, longest_open_end_hours: 72, comment_commands: 'requests' },
    freezers: ['rita', 'wes'],
    inherited: ['longest_open_end_hours', 'comment_commands', 'approvers', 'release_deployments'],
  });
  expect(isChosen((await rita.open(ofWeb)).text, 'two_person_exemptions', 'false')).toBe(true);
});

test('what is wrong stands at its field, and nothing changes', async () => {
  const before = await settingsOf('/v1/settings/acme');
  const wrong = await save(ada, ofOwner, {
    ...{ two_person_exemptions: 'false', comment_commands: 'true', longest_open_end_hours: 'soon' },
    ...{ freezers_list: '', approvers_list: '' },
  });
  expect([wrong.status, wrong.text.includes('id="longest_open_end_hours-problem"')]).toEqual([422, true]);
  const nobody = await save(ada, ofOwner, {
    ...{ two_person_exemptions: 'false', comment_commands: 'true', longest_open_end_hours: '' },
    ...{ freezers_list: 'nobody-at-all', approvers_list: '' },
  });
  expect(nobody.status).toBe(422);
  expect(nobody.text).toContain('id="freezers_list-problem"');
  expect(nobody.text).toContain('nobody-at-all');
  expect(await settingsOf('/v1/settings/acme')).toEqual(before);
});

test('a form that somebody overtook changes nothing', async () => {
  const { text } = await ada.open(ofOwner);
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { comment_commands: false } });
  const fields = { two_person_exemptions: 'true', comment_commands: 'true', longest_open_end_hours: '' };
  const late = await ada.send(ofOwner, { do: 'settings', version: versionOf(text), ...fields });
  expect(late.text).toContain('Somebody changed these settings');
  expect((await settingsOf('/v1/settings/acme')).comment_commands).toBe(false);
});

test('products of a repository and of new ones are boxes', async () => {
  await rita.send(ofWeb, { do: 'products', product: 'merge_queue' });
  await ada.send(ofOwner, { do: 'products', product: ['merge_protections', 'ci_insights'] });
  const { repositories } = await settingsOf('/v1/repos/acme');
  expect(repositories).toContainEqual({ name: 'web', enabled_products: ['merge_queue'] });
  expect((await settingsOf('/v1/default_products/acme')).products).toEqual([
    'ci_insights',
    'merge_protections',
  ]);
});

test('a key is made and shown once, seen and revoked', async () => {
  const made = await ada.send(ofOwner, { do: 'create-key', key_name: 'CI of web', scope: 'ci', days: '90' });
  const [secret] = /hf_ci_\w+/.exec(made.text)!;
  expect((await acme.call('GET', '/v1/application', { as: secret })).body.name).toBe('CI of web');
  const { text } = await ada.open(ofOwner);
  expect(text).toContain('CI of web');
  expect(text).not.toContain(secret);
  const { id } = (await acme.call('GET', '/v1/application', { as: secret })).body;
  await ada.send(ofOwner, { do: 'revoke-key', id });
  expect((await acme.call('GET', '/v1/application', { as: secret })).status).toBe(403);
  const nameless = await ada.send(ofOwner, { do: 'create-key', key_name: '', scope: 'ci' });
  expect([nameless.status, nameless.text.includes('id="key_name-problem"')]).toEqual([422, true]);
});

test('an OIDC rule is made, and deleted', async () => {
  const rule = { do: 'create-rule', rule_name: 'Deploys', refs: 'refs/heads/main', may: 'freeze' };
  expect((await ada.send(ofOwner, rule)).status).toBe(303);
  const [made] = (await settingsOf('/v1/oidc_rules/acme')).oidc_rules;
  expect(made).toMatchObject({ name: 'Deploys', refs: ['refs/heads/main'], may: ['push_scopes', 'freeze'] });
  const open = await ada.send(ofOwner, { ...rule, refs: '' });
  expect([open.status, open.text.includes('id="refs-problem"')]).toEqual([422, true]);
  await ada.send(ofOwner, { do: 'delete-rule', id: made.id });
  expect((await settingsOf('/v1/oidc_rules/acme')).oidc_rules).toEqual([]);
});

test('a saved template is listed, and removed', async () => {
  await ada.send('/owners/acme/freeze', {
    reason: 'x',
    which: 'all',
    step: 'template',
    template_name: 'Mine',
  });
  expect((await ada.open(ofOwner)).text).toContain('Remove Mine');
  await ada.send(ofOwner, { do: 'remove-template', template: 'Mine' });
  expect((await ada.open(ofOwner)).text).not.toContain('Remove Mine');
});

test('nobody but an admin sees or changes settings, not even with a role', async () => {
  const wes = new Visitor(acme);
  await wes.signIn('wes');
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { freezers: ['wes'] } });
  await acme.call('PATCH', '/v1/repos/acme/web/settings', { as: acme.admin, body: { freezers: ['wes'] } });
  for (const path of [ofOwner, ofWeb]) {
    expect((await wes.open(path)).status, path).toBe(403);
    for (const fields of [
      { do: 'settings' },
      { do: 'products' },
      { do: 'create-key', key_name: 'x', scope: 'admin' },
    ])
      expect((await wes.send(path, fields as Record<string, string>)).status, `${path} ${fields.do}`).toBe(
        403,
      );
    expect((await new Visitor(acme).open(path)).status).toBe(302);
  }
});
