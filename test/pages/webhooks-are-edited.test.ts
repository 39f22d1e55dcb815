import { beforeAll, beforeEach, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { Visitor, words } from '../support/visitor.ts';

// A webhook that Holdfast disabled is seen, mended and enabled on the pages.

const acme = acmeForAll();
let ada: Visitor;
let rita: Visitor;
const settings = '/owners/acme/settings/webhooks';
const pageOf = (id: string) => `${settings}/${id}`;
const chat = { kind: 'slack', url: 'https://hooks.example/services/T1/B2/secret-9f2c' };
const own = { kind: 'standard', url: 'https://ops.example/hook', events: ['freeze.started'] };

beforeAll(async () => {
  acme.github.addUser('rita');
  await acme.repository('web', [], { roles: { rita: 'admin' } });
  [ada, rita] = [new Visitor(acme), new Visitor(acme)];
  await ada.signIn('ada');
  await rita.signIn('rita');
});
beforeEach(async () => {
  await acme.app.deps.db.outgoingWebhook.deleteMany();
  // One person changes only so much in a minute.
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
});

async function make(body: object): Promise<string> {
  const answer = await acme.call('POST', '/v1/webhooks/acme', { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}
const only = async () => (await acme.call('GET', '/v1/webhooks/acme', { as: acme.admin })).body.webhooks[0];
const row = (id: string) => acme.app.deps.db.outgoingWebhook.findUniqueOrThrow({ where: { id } });

/** The form that changes a webhook, in the page. */
const formOf = (text: string, id: string) =>
  text.split('<form ').find((each) => each.includes('value="update-webhook"') && each.includes(id))!;
const valueOf = (form: string, name: string) =>
  new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(form)?.[1];

async function edit(id: string, fields: Record<string, string | string[]>) {
  const { text } = await ada.open(pageOf(id));
  const version = valueOf(formOf(text, id), 'version')!;
  return ada.send(pageOf(id), { do: 'update-webhook', id, version, ...fields });
}

test('the form has what is stored, and saves all but the secrets', async () => {
  const id = await make(own);
  const { sealedSecret } = await row(id);
  const form = formOf((await ada.open(pageOf(id))).text, id);
  expect(valueOf(form, 'url')).toBe(own.url);
  expect(form).toMatch(/value="freeze.started"\s+checked/);
  const saved = await edit(id, {
    ...{ url: 'https://ops.example/other', description: 'Ops', webhook_repositories: 'web\napi-*' },
    ...{ event: ['freeze.ended', 'freeze.deleted'], public_text: 'true' },
  });
  expect([saved.status, saved.location]).toEqual([303, `${pageOf(id)}?said=saved`]);
  expect(await only()).toMatchObject({
    ...{ url: 'https://ops.example/other', description: 'Ops', repositories: ['web', 'api-*'] },
    ...{ events: ['freeze.ended', 'freeze.deleted'], public_text: true, enabled: true },
  });
  expect((await row(id)).sealedSecret).toEqual(sealedSecret);
  // What is emptied is for all again.
  await edit(id, { url: 'https://ops.example/other', description: '', webhook_repositories: '' });
  expect(await only()).toMatchObject({
    ...{ description: null, repositories: null, events: null, public_text: false },
  });
  const log = await acme.call('GET', '/v1/logs/acme?event_type=webhook.update', { as: acme.admin });
  expect(log.body.events).toMatchObject([{ trigger: 'page' }, { trigger: 'page' }]);
});

test('the address of a chat is not shown, and stays unless another one is typed', async () => {
  const id = await make(chat);
  const { sealedUrl } = await row(id);
  const form = formOf((await ada.open(pageOf(id))).text, id);
  expect(valueOf(form, 'url')).toBe('');
  expect(form).not.toContain('secret-9f2c');
  await edit(id, { url: '', description: 'Releases' });
  expect(await row(id)).toMatchObject({ sealedUrl, description: 'Releases' });
  await edit(id, { url: 'https://hooks.example/services/T1/B2/another-1a2b' });
  expect(await only()).toMatchObject({ url: 'hooks.example/…1a2b' });
  expect((await row(id)).sealedUrl).not.toBe(sealedUrl);
});

test('a channel of the Slack app has no address to change', async () => {
  const id = await make(chat);
  await acme.app.deps.db.outgoingWebhook.update({ where: { id }, data: { kind: 'slack_channel' } });
  expect(valueOf(formOf((await ada.open(pageOf(id))).text, id), 'url')).toBeUndefined();
  await edit(id, { event: ['freeze.started'] });
  expect((await row(id)).events).toEqual(['freeze.started']);
});

test('what tells people in Slack about their own pull requests is no webhook of the page', async () => {
  const id = await make(chat);
  await acme.app.deps.db.outgoingWebhook.update({ where: { id }, data: { kind: 'slack_people' } });
  expect((await ada.open(settings)).text).not.toContain(id);
  expect((await ada.open(pageOf(id))).status).toBe(404);
});

test('a refused form keeps what was typed, in this form alone', async () => {
  const [id, other] = [await make(own), await make(own)];
  const { status, text } = await edit(id, { url: 'https://10.0.0.7/hook', description: 'Typed' });
  expect(status).toBe(422);
  const form = formOf(text, id);
  expect([valueOf(form, 'url'), valueOf(form, 'description')]).toEqual(['https://10.0.0.7/hook', 'Typed']);
  expect(form).toContain('WEBHOOK_ALLOWED_HOSTS');
  expect(text).toMatch(/<details class="confirm" open>\s*<summary[^>]*>Edit…/);
  expect(valueOf(formOf((await ada.open(pageOf(other))).text, other), 'url')).toBe(own.url);
  expect(text.match(/-problem"/g)).toHaveLength(2);
});

test('two people do not overwrite each other', async () => {
  const id = await make(own);
  const version = valueOf(formOf((await ada.open(pageOf(id))).text, id), 'version')!;
  await edit(id, { url: own.url, description: 'First' });
  const late = await ada.send(pageOf(id), {
    ...{ do: 'update-webhook', id, version, url: own.url, description: 'Second' },
  });
  expect([late.status, late.text.includes('Somebody changed this webhook')]).toEqual([422, true]);
  expect(valueOf(formOf(late.text, id), 'description')).toBe('Second');
  expect((await only()).description).toBe('First');
});

test('the overview tells admins of the owner what Holdfast disabled, until it is enabled', async () => {
  const id = await make(own);
  const seen = async (visitor: Visitor) =>
    Promise.all(
      ['/', '/repos/acme'].map(async (path) =>
        words(await visitor.open(path)).includes('Holdfast disabled an outgoing webhook of acme'),
      ),
    );
  expect(await seen(ada)).toEqual([false, false]);
  // Who disables one knows it.
  await ada.send(settings, { do: 'disable-webhook', id });
  expect(await seen(ada)).toEqual([false, false]);
  await acme.app.deps.db.outgoingWebhook.update({ where: { id }, data: { disabledWhy: 'It answered 410.' } });
  expect(await seen(ada)).toEqual([true, true]);
  expect((await ada.open('/')).text).toContain(`href="${settings}"`);
  expect(await seen(rita)).toEqual([false, false]);
  await edit(id, { url: 'https://ops.example/new' });
  await ada.send(settings, { do: 'enable-webhook', id });
  expect(await seen(ada)).toEqual([false, false]);
});
