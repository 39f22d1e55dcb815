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
    inherited: [
      'longest_open_end_hours',
      'comment_commands',
      'approvers',
      'instant_hold',
      'release_deployments',
    ],
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

/** The value of a field, the chosen radio button, or the ticked boxes. */
function shownIn(text: string, name: string): string[] {
  const area = new RegExp(`<textarea[^>]* name="${name}"[^>]*>\\n?([^<]*)<`).exec(text);
  if (area) return [area[1]!];
  const inputs = [...text.matchAll(/<input[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(`name="${name}"`));
  const isBox = inputs.some((tag) => /type="(radio|checkbox)"/.test(tag));
  return inputs
    .filter((tag) => !isBox || /\schecked/.test(tag))
    .map((tag) => /value="([^"]*)"/.exec(tag)?.[1] ?? '');
}

const typedForms: [string, string, Record<string, string | string[]>][] = [
  [
    'the settings of an owner',
    ofOwner,
    {
      ...{
        do: 'settings',
        freezers_list: 'nobody-at-all',
        approvers_list: 'wes\nrita',
        comment_commands: 'requests',
      },
      ...{
        two_person_exemptions: 'true',
        longest_open_end_hours: '7',
        instant_hold: 'off',
        release_deployments: 'all',
      },
    },
  ],
  [
    'the settings of a repository',
    ofWeb,
    {
      ...{
        do: 'settings',
        freezers: 'own',
        freezers_list: 'wes',
        approvers: 'own',
        approvers_list: 'nobody-at-all',
      },
      ...{ two_person_exemptions: 'true', longest_open_end_hours: '7', comment_commands: 'false' },
      ...{ instant_hold: 'inherit', release_deployments: 'all' },
    },
  ],
  [
    'a webhook',
    ofOwner,
    {
      ...{
        do: 'create-webhook',
        kind: 'teams',
        url: 'not an address',
        description: 'Release',
        public_text: 'true',
      },
      ...{ webhook_repositories: 'web\napi-*', event: ['freeze.started', 'freeze.ended'] },
    },
  ],
  ['a key', ofOwner, { do: 'create-key', key_name: ' ', scope: 'admin', days: '365' }],
  [
    'a rule',
    ofOwner,
    {
      ...{
        do: 'create-rule',
        rule_name: 'Deploys',
        repositories: 'web',
        refs: '',
        environments: '',
        may: 'freeze',
      },
    },
  ],
];

test.each(typedForms)('a refused form keeps all that was typed: %s', async (_, path, fields) => {
  const visitor = path === ofOwner ? ada : rita;
  const version = versionOf((await visitor.open(path)).text);
  const { status, text } = await visitor.send(path, { version, ...fields });
  expect(status).toBe(422);
  const form = text
    .split('<form ')
    .find((each) => each.includes(`name="do" value="${String(fields['do'])}"`))!;
  for (const [name, value] of Object.entries(fields))
    if (name !== 'do') expect([name, shownIn(form, name)]).toEqual([name, [value].flat()]);
  // Folded forms are open, so that one sees it.
  if (fields['do'] !== 'settings')
    expect(text).toMatch(new RegExp(`<details open>\\s*<summary[^>]*>New (webhook|key|rule)`));
  const others = (await visitor.open(path)).text;
  expect(others).not.toContain('nobody-at-all');
});

test('a form that somebody overtook shows what was typed, and what was saved meanwhile', async () => {
  const { text } = await ada.open(ofOwner);
  await acme.call('PATCH', '/v1/settings/acme', {
    as: acme.admin,
    body: { comment_commands: false, freezers: ['rita'], approvers: ['wes'] },
  });
  const fields = {
    ...{
      freezers_list: 'wes',
      approvers_list: 'wes',
      comment_commands: 'requests',
      longest_open_end_hours: '9',
    },
    ...{ two_person_exemptions: 'false', instant_hold: 'off', release_deployments: 'newest' },
  };
  const late = await ada.send(ofOwner, { do: 'settings', version: versionOf(text), ...fields });
  expect(late.status).toBe(422);
  expect(late.text).toContain('Somebody changed these settings');
  expect(shownIn(late.text, 'freezers_list')).toEqual(['wes']);
  expect(shownIn(late.text, 'comment_commands')).toEqual(['requests']);
  expect(shownIn(late.text, 'longest_open_end_hours')).toEqual(['9']);
  const meanwhile = [...late.text.matchAll(/Saved now: <bdi>([^<]*)<\/bdi>/g)].map(([, value]) => value);
  expect(meanwhile).toEqual(['rita', 'Required', '72', 'None']);
  // Who saw both may save.
  const again = await ada.send(ofOwner, { do: 'settings', version: versionOf(late.text), ...fields });
  expect(again.status).toBe(303);
  await acme.call('PATCH', '/v1/settings/acme', {
    as: acme.admin,
    body: { freezers: [], approvers: [], longest_open_end_hours: null },
  });
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

/** The fields of the form for a new webhook. */
const newWebhook = {
  do: 'create-webhook',
  kind: 'slack',
  url: 'https://hooks.example/services/T1/B2/secret-9f2c',
};
const webhooksOf = async () => (await settingsOf('/v1/webhooks/acme')).webhooks;

test('a webhook of a chat is made, and its address is not shown again', async () => {
  const made = await ada.send(ofOwner, {
    ...newWebhook,
    ...{ webhook_repositories: 'web\napi-*', event: ['freeze.started', 'freeze.ended'] },
    ...{ description: 'Release <channel>', public_text: 'true' },
  });
  const [webhook] = await webhooksOf();
  expect([made.status, made.location]).toEqual([303, `${ofOwner}?said=saved#webhook-${webhook.id}`]);
  expect(webhook).toMatchObject({
    ...{ kind: 'slack', repositories: ['web', 'api-*'], events: ['freeze.started', 'freeze.ended'] },
    ...{ description: 'Release <channel>', public_text: true, enabled: true },
  });
  const { text } = await ada.open(ofOwner);
  expect(text).toContain('hooks.example/…9f2c');
  expect(text).toContain('Release &lt;channel&gt;');
  expect(text).not.toContain('secret-9f2c');
});

test('a webhook is listed with what it was told', async () => {
  const { outgoingDelivery } = acme.app.deps.db;
  await acme.freeze(await acme.repository('api-told'));
  expect(await outgoingDelivery.findMany()).toMatchObject([
    { type: 'freeze.started', eventIds: [expect.any(BigInt)] },
  ]);
  const { status, text } = await ada.open(ofOwner);
  expect(status).toBe(200);
  expect(text).toMatch(/Last deliveries[^]*freeze\.started/);
  await outgoingDelivery.deleteMany();
});

test('a webhook is tested, disabled, enabled, sent to again and deleted', async () => {
  const [{ id }] = await webhooksOf();
  const { db } = acme.app.deps;
  const deliveries = () => db.outgoingDelivery.findMany({ where: { webhookId: id } });
  const send = (what: string, more: Record<string, string> = {}) =>
    ada.send(ofOwner, { do: what, id, ...more });
  await send('test-webhook');
  const [delivery] = await deliveries();
  expect(delivery!.type).toBe('webhook.test');
  const failed = {
    state: 'failed',
    attempts: 10,
    status: 503,
    error: 'It answered 503.',
    nextAttemptAt: null,
  };
  await db.outgoingDelivery.update({
    where: { id: delivery!.id },
    data: { ...failed, lastAttemptAt: new Date(acme.clock.now()) },
  });
  const { text } = await ada.open(ofOwner);
  expect(text).toContain(': It answered 503.');
  expect((await send('replay-delivery', { delivery: delivery!.id })).status).toBe(303);
  const [again, ...others] = await deliveries();
  expect([again!.id, again!.state, others]).toEqual([delivery!.id, 'waiting', []]);
  expect(again!.attempts, 'counted from the beginning, once it is tried').toBeLessThan(2);
  await send('disable-webhook');
  expect((await webhooksOf())[0].enabled).toBe(false);
  const refused = await send('test-webhook');
  expect([refused.status, refused.text.includes('This webhook is disabled.')]).toEqual([422, true]);
  const disabledWhy = 'It answered 410: it wants no more messages.';
  await db.outgoingWebhook.update({ where: { id }, data: { disabledWhy } });
  expect((await ada.open(ofOwner)).text).toContain(disabledWhy);
  await send('enable-webhook');
  expect(await webhooksOf()).toMatchObject([{ enabled: true, disabled_reason: null }]);
  await send('delete-webhook');
  expect(await webhooksOf()).toEqual([]);
});

test('the secret of one’s own service is shown once, and rotated', async () => {
  const made = await ada.send(ofOwner, { ...newWebhook, kind: 'standard', url: 'https://ops.example/hook' });
  const [secret] = /whsec_[\w+/=]+/.exec(made.text)!;
  const [{ id }] = await webhooksOf();
  expect((await ada.open(ofOwner)).text).not.toContain('whsec_');
  const rotated = await ada.send(ofOwner, { do: 'rotate-webhook', id });
  expect(rotated.text).toMatch(/whsec_/);
  expect(rotated.text).not.toContain(secret);
  const wrong = await ada.send(ofOwner, { ...newWebhook, url: 'https://10.0.0.7/hook' });
  expect([wrong.status, wrong.text.includes('id="url-problem"')]).toEqual([422, true]);
  expect(wrong.text).toContain('WEBHOOK_ALLOWED_HOSTS');
  const strange = await ada.send(ofOwner, { ...newWebhook, webhook_repositories: '{a' });
  expect(strange.text).toContain('id="webhook_repositories-problem"');
  await ada.send(ofOwner, { do: 'delete-webhook', id });
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
      newWebhook,
    ])
      expect((await wes.send(path, fields as Record<string, string>)).status, `${path} ${fields.do}`).toBe(
        403,
      );
    expect((await new Visitor(acme).open(path)).status).toBe(302);
  }
});
