// An owner connects a Slack app of its own on the settings page. It changes nothing of other owners.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InSlack, startInSlack } from '../support/slack.ts';
import { resealSlackApps, slackAppOf } from '../../src/notices/slack/slack-apps.ts';
import { Visitor, words } from '../support/visitor.ts';

let acme: InSlack;
let ada: Visitor;
beforeAll(async () => {
  acme = await startInSlack(null);
  acme.github.addOrganization('globex', { admins: ['ada'] });
  acme.github.install('globex');
  await acme.quiet();
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
afterAll(() => acme.close());

const settings = '/owners/acme/settings/slack';
const connect = (more: Record<string, string> = {}, path = settings, visitor = ada) =>
  visitor.sendOnce(path, {
    do: 'connect-slack',
    bot_token: acme.slack.botToken,
    signing_secret: acme.slack.signingSecret,
    app_token: '',
    ...more,
  });

test('the page links to Slack with the manifest, over HTTP and for Socket Mode', async () => {
  const { text } = await ada.open(settings);
  const links = [...text.matchAll(/https:\/\/api\.slack\.com\/apps\?([^"]*)/g)].map(([, query]) =>
    JSON.parse(new URLSearchParams(query!.replaceAll('&amp;', '&')).get('manifest_json')!),
  );
  expect(links.map(({ settings: { socket_mode_enabled: isSocket } }) => isSocket)).toEqual([false, true]);
  expect(links[0].features.slash_commands[0].url).toBe('https://holdfast.example/slack/commands');
  expect(links[0].settings.interactivity.request_url).toBe('https://holdfast.example/slack/interactions');
  expect(links[1].features.slash_commands[0].url).toBeUndefined();
});

test.each([
  [{ bot_token: 'xoxp-1' }, 'begins with xoxb-'],
  [{ bot_token: 'xoxb-1' }, 'Slack refuses this token (invalid_auth)'],
  [{ signing_secret: '' }, 'or the app-level token for Socket Mode'],
  [{ app_token: 'xapp-1' }, 'Slack refuses this token (invalid_auth)'],
])('wrong tokens are refused: %j', async (more, why) => {
  const answer = await connect(more);
  expect(answer.status).toBe(422);
  expect(words(answer)).toContain(why);
  expect(words(answer)).toContain('Type the tokens and the secret again');
  expect(answer.text).toContain('<details open>');
  expect(answer.text).not.toContain(acme.slack.signingSecret);
});

test('is for admins of the owner', async () => {
  const bob = new Visitor(acme);
  await bob.signIn('bob');
  expect((await connect({}, settings, bob)).status).toBe(403);
});

test('what is connected works for this owner alone, is sealed, and can be disconnected', async () => {
  expect((await connect()).status).toBe(303);
  const shown = await ada.open(settings);
  expect(words(shown)).toContain('Acme Chat');
  for (const secret of [acme.slack.botToken, acme.slack.signingSecret]) {
    expect(shown.text).not.toContain(secret);
    expect(
      JSON.stringify(await acme.app.deps.db.slackApp.findMany(), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ).not.toContain(secret);
    expect(acme.logs.join()).not.toContain(secret);
  }
  expect((await connect({}, '/owners/globex/settings/slack')).status).toBe(422);
  const web = await acme.repository('web', [{}]);
  const user = await acme.link('ada');
  await acme.says(user, 'freeze web 2h INC-1');
  await acme.sends(user);
  expect(acme.frozen(web)).toEqual([1]);
  await acme.says(user, 'freeze globex/* 2h INC-1');
  expect(acme.slack.whispered(user)).toContain(
    'This Slack app belongs to acme. It cannot change anything of globex.',
  );
  const { db } = acme.app.deps;
  expect(await db.auditEvent.count({ where: { type: 'slack_app.create' } })).toBe(1);
  expect((await ada.sendOnce(settings, { do: 'disconnect-slack' })).status).toBe(303);
  expect((await acme.slack.command(user, acme.channel, 'status')).status).toBe(401);
  expect([await db.slackLink.count(), await db.slackApp.count()]).toEqual([0, 0]);
});

test('after SECRET_KEY changed, its secrets are encrypted anew, and need the former key no more', async () => {
  expect((await connect()).status).toBe(303);
  const { deps } = acme.app;
  const later = {
    ...deps.config,
    secretKey: 'another key with at least 32 characters',
    secretKeyPrevious: null,
  };
  const { id } = await deps.db.slackApp.findFirstOrThrow();
  const tokenWith = async (config: typeof later) => (await slackAppOf({ ...deps, config }, id))?.botToken;
  expect(await tokenWith(later)).toBeUndefined();
  await resealSlackApps({ ...deps, config: { ...later, secretKeyPrevious: deps.config.secretKey } });
  expect(await tokenWith(later)).toBe(acme.slack.botToken);
  await deps.db.slackApp.deleteMany();
});
