import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// Admins choose everything that an owner and a repository can have on a page, without curl.

const acme = acmeForAll();
let ada: Visitor;
let rita: Visitor;
const ofOwner = '/owners/acme/settings';
const [ofRoles, ofExemptions, ofWebhooks, ofKeys, ofJobs] = [
  'roles',
  'exemptions',
  'webhooks',
  'keys',
  'jobs',
].map((subject) => `${ofOwner}/${subject}`) as [string, string, string, string, string];
const ofTemplates = `${ofOwner}/templates`;
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
  const ofSubjects: [string, Record<string, string>][] = [
    [ofOwner, { comment_commands: 'requests', longest_open_end_hours: '72' }],
    [ofRoles, { freezers_list: 'wes', approvers_list: '' }],
    [ofExemptions, { two_person_exemptions: 'true' }],
  ];
  for (const [path, fields] of ofSubjects) {
    const saved = await save(ada, path, fields);
    expect([saved.status, saved.location]).toEqual([303, `${path}?said=saved`]);
  }
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
  const wrong = await save(ada, ofOwner, { comment_commands: 'true', longest_open_end_hours: 'soon' });
  expect([wrong.status, wrong.text.includes('id="longest_open_end_hours-problem"')]).toEqual([422, true]);
  const nobody = await save(ada, ofRoles, { freezers_list: 'nobody-at-all', approvers_list: '' });
  expect(nobody.status).toBe(422);
  expect(nobody.text).toContain('id="freezers_list-problem"');
  expect(nobody.text).toContain('nobody-at-all');
  expect(await settingsOf('/v1/settings/acme')).toEqual(before);
});

test('a form that somebody overtook changes nothing', async () => {
  const { text } = await ada.open(ofOwner);
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { comment_commands: false } });
  const fields = { comment_commands: 'true', longest_open_end_hours: '' };
  const late = await ada.send(ofOwner, { do: 'settings', version: versionOf(text), ...fields });
  expect(late.text).toContain('Somebody changed these settings');
  expect((await settingsOf('/v1/settings/acme')).comment_commands).toBe(false);
});

test('what somebody saves of another subject meanwhile overtakes nothing, and stays', async () => {
  const { text } = await ada.open(ofExemptions);
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { longest_open_end_hours: 48 } });
  const fields = { do: 'settings', version: versionOf(text), two_person_exemptions: 'false' };
  expect((await ada.send(ofExemptions, fields)).status).toBe(303);
  expect(await settingsOf('/v1/settings/acme')).toMatchObject({
    ...{ longest_open_end_hours: 48, two_person_exemptions: false, freezers: ['wes'] },
  });
  await acme.call('PATCH', '/v1/settings/acme', {
    as: acme.admin,
    body: { longest_open_end_hours: 72, two_person_exemptions: true },
  });
});

test('each subject has an address, which the list on each page leads to', async () => {
  const { text } = await ada.open(ofOwner);
  const list = /<nav class="subjects"[^]*?<\/nav>/.exec(text)![0];
  const paths = [...list.matchAll(/href="([^"]*)"/g)].map(([, path]) => path!);
  expect(paths).toHaveLength(10);
  for (const path of paths) {
    const page = await ada.open(path);
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text).toMatch(new RegExp(`href="${path}"\\s+aria-current="page"`));
    expect((await rita.open(path)).status, 'an admin of a repository').toBe(403);
  }
  // Links to parts of the page that had them all.
  for (const anchor of ['deployments', 'instant-hold', 'slack', 'webhooks', 'keys', 'rules'])
    expect(list).toContain(`id="${anchor}"`);
  for (const unknown of ['rulez', 'webhooks/x', `webhooks/${crypto.randomUUID()}`])
    expect((await ada.open(`${ofOwner}/${unknown}`)).status).toBe(404);
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
    'the roles of an owner',
    ofRoles,
    { do: 'settings', freezers_list: 'nobody-at-all', approvers_list: ['wes', 'rita'] },
  ],
  [
    'the general settings of an owner',
    ofOwner,
    { do: 'settings', comment_commands: 'requests', longest_open_end_hours: 'soon' },
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
    ofWebhooks,
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
  ['a key', ofKeys, { do: 'create-key', key_name: ' ', scope: 'admin', days: '365' }],
  [
    'a rule',
    ofJobs,
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
  const visitor = path === ofWeb ? rita : ada;
  const opened = (await visitor.open(path)).text;
  const sent = fields['do'] === 'settings' ? { version: versionOf(opened), ...fields } : fields;
  const { status, text } = await visitor.send(path, sent);
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
  const change = { comment_commands: false, freezers: ['rita'], approvers: ['wes'] };
  const ofPages: [string, Record<string, string>, string[]][] = [
    [ofRoles, { freezers_list: 'wes', approvers_list: 'wes' }, ['rita']],
    [ofOwner, { longest_open_end_hours: '9', comment_commands: 'requests' }, ['72', 'None']],
  ];
  const opened = await Promise.all(ofPages.map(async ([path]) => (await ada.open(path)).text));
  await acme.call('PATCH', '/v1/settings/acme', {
    as: acme.admin,
    body: { ...change, comment_commands: true },
  });
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: change });
  for (const [at, [path, fields, saved]] of ofPages.entries()) {
    const version = at === 0 ? versionOf(opened[at]!) : 'of another day';
    const late = await ada.send(path, { do: 'settings', version, ...fields });
    expect(late.status).toBe(422);
    expect(late.text).toContain('Somebody changed these settings');
    for (const [name, value] of Object.entries(fields)) expect(shownIn(late.text, name)).toEqual([value]);
    const meanwhile = [...late.text.matchAll(/Saved now: <bdi>([^<]*)<\/bdi>/g)].map(([, value]) => value);
    expect(meanwhile).toEqual(saved);
    // Who saw both may save.
    const again = await ada.send(path, { do: 'settings', version: versionOf(late.text), ...fields });
    expect(again.status).toBe(303);
  }
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
  const made = await ada.send(ofKeys, { do: 'create-key', key_name: 'CI of web', scope: 'ci', days: '90' });
  const [secret] = /hf_ci_\w+/.exec(made.text)!;
  expect((await acme.call('GET', '/v1/application', { as: secret })).body.name).toBe('CI of web');
  const { text } = await ada.open(ofKeys);
  expect(text).toContain('CI of web');
  expect(text).not.toContain(secret);
  const { id } = (await acme.call('GET', '/v1/application', { as: secret })).body;
  await ada.send(ofKeys, { do: 'revoke-key', id });
  expect((await acme.call('GET', '/v1/application', { as: secret })).status).toBe(403);
  const nameless = await ada.send(ofKeys, { do: 'create-key', key_name: '', scope: 'ci' });
  expect([nameless.status, nameless.text.includes('id="key_name-problem"')]).toEqual([422, true]);
});

test('an OIDC rule is made, and deleted', async () => {
  const rule = { do: 'create-rule', rule_name: 'Deploys', refs: 'refs/heads/main', may: 'freeze' };
  // As a tab sends it that was opened when one page had all settings.
  const sent = await ada.send(ofOwner, rule);
  expect([sent.status, sent.location]).toEqual([303, `${ofJobs}?said=saved`]);
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
  const made = await ada.send(ofWebhooks, {
    ...newWebhook,
    ...{ webhook_repositories: 'web\napi-*', event: ['freeze.started', 'freeze.ended'] },
    ...{ description: 'Release <channel>', public_text: 'true' },
  });
  const [webhook] = await webhooksOf();
  expect([made.status, made.location]).toEqual([303, `${ofWebhooks}/${webhook.id}?said=saved`]);
  expect(webhook).toMatchObject({
    ...{ kind: 'slack', repositories: ['web', 'api-*'], events: ['freeze.started', 'freeze.ended'] },
    ...{ description: 'Release <channel>', public_text: true, enabled: true },
  });
  for (const path of [ofWebhooks, made.location!]) {
    const { text } = await ada.open(path);
    expect(text).toContain('hooks.example/…9f2c');
    expect(text).toContain('Release &lt;channel&gt;');
    expect(text).not.toContain('secret-9f2c');
  }
});

test('a webhook is listed with what it was told', async () => {
  const { outgoingDelivery } = acme.app.deps.db;
  await acme.freeze(await acme.repository('api-told'));
  expect(await outgoingDelivery.findMany()).toMatchObject([
    { type: 'freeze.started', eventIds: [expect.any(BigInt)] },
  ]);
  const [{ id }] = await webhooksOf();
  const { status, text } = await ada.open(`${ofWebhooks}/${id}`);
  expect(status).toBe(200);
  expect(text).toMatch(/Last deliveries[^]*freeze\.started[^]*Body[^]*acme\/api-told is frozen/);
  expect(words(await ada.open(ofWebhooks))).toContain('web, api-*');
  await outgoingDelivery.deleteMany();
});

test('a webhook is tested, disabled, enabled, sent to again and deleted', async () => {
  const [{ id }] = await webhooksOf();
  const { db } = acme.app.deps;
  const deliveries = () => db.outgoingDelivery.findMany({ where: { webhookId: id } });
  const send = (what: string, more: Record<string, string> = {}) =>
    ada.send(`${ofWebhooks}/${id}`, { do: what, id, ...more });
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
  for (const path of [ofWebhooks, `${ofWebhooks}/${id}`])
    expect((await ada.open(path)).text).toContain(': It answered 503.');
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
  expect((await ada.open(`${ofWebhooks}/${id}`)).text).toContain(disabledWhy);
  await send('enable-webhook');
  expect(await webhooksOf()).toMatchObject([{ enabled: true, disabled_reason: null }]);
  expect((await send('delete-webhook')).location).toBe(`${ofWebhooks}?said=saved`);
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
  expect((await ada.open(ofTemplates)).text).toContain('Remove Mine');
  await ada.send(ofTemplates, { do: 'remove-template', template: 'Mine' });
  expect((await ada.open(ofTemplates)).text).not.toContain('Remove Mine');
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
