// People freeze, extend, decide and end from Slack, with what GitHub lets them do, over HTTP and by Socket Mode.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type InSlack, pathIn, startInSlack } from './support/slack.ts';
import { Visitor, words } from './support/visitor.ts';

let acme: InSlack;
let ada: string;
let web: string;
let count = 0;
beforeAll(async () => {
  acme = await startInSlack();
  ada = await acme.link('ada');
});
afterAll(() => acme.close());
beforeEach(async () => {
  web = await acme.repository(`web-${++count}`, [{ title: 'Fix' }, {}]);
});

const last = () => acme.slack.messages(acme.channel).at(-1)!.text;
const said = () => acme.slack.messages(acme.channel).length;

const doubtful = '"18h" may be 18:00 or 18 hours from now.';

describe('a freeze', () => {
  test('is previewed, begins when the window is sent, and the channel sees who did it', async () => {
    const before = said();
    await acme.says(ada, `freeze ${web} 2h INC-9 is on`);
    expect(acme.slack.windowText(ada)).toContain(
      `*${web}* will be frozen from now until *2026-03-01 11:00 UTC*.\nReason: INC-9 is on\n*2 pull requests* in 1 repository would be blocked.`,
    );
    expect(acme.frozen(web)).toEqual([]);
    expect(said()).toBe(before);
    await acme.sends(ada);
    expect(acme.frozen(web)).toEqual([1, 2]);
    expect(last()).toMatch(
      `<@${ada}> (ada on GitHub) froze *${web}* until *2026-03-01 11:00 UTC*: INC-9 is on\n<https://holdfast.example/repos/${web}/freezes/`,
    );
    expect(acme.slack.window(ada)).toBeNull();
  });

  test('begins where the app is installed in a whole organization, and requests name no workspace', async () => {
    acme.slack.installInOrganization();
    await acme.says(ada, `freeze ${web} 2h INC-9 is on`);
    await acme.sends(ada);
    acme.slack.installInOrganization(false);
    expect(acme.frozen(web)).toEqual([1, 2]);
  });

  test('of deployments is told in one sentence, listed and ended', async () => {
    const sentence = 'Deployments to production wait; merges are not blocked.';
    await acme.says(ada, `freeze ${web} deployments to production 2h INC-9`);
    expect(acme.slack.windowText(ada)).toBe(
      `*${web}* will be frozen from now until *2026-03-01 11:00 UTC*.\n${sentence}\nReason: INC-9\n:warning: It is not known which environments would be held in ${web.split('/')[1]}.\n:warning: Freezes cannot block deployments on GitHub: Holdfast lacks deployments: write, actions: read. Only a gate in the pipeline stops them.`,
    );
    await acme.sends(ada);
    expect(acme.frozen(web)).toEqual([]);
    expect(last()).toContain(`INC-9\n${sentence}\n`);
    await acme.says(ada, `status ${web}`);
    expect(acme.slack.whispered(ada)).toContain(`INC-9, until 2026-03-01 11:00 UTC. ${sentence}`);
    await acme.says(ada, `unfreeze ${web} over`);
    await acme.sends(ada);
    expect(last()).toContain(`(ada on GitHub) ended in *${web}*: over`);
  });

  test('is extended and ended', async () => {
    await acme.freeze(web, { reason: 'Release', end: '2026-03-01T12:00:00' });
    await acme.says(ada, `extend ${web} 1h`);
    expect(acme.slack.windowText(ada)).toContain('until 2026-03-01 12:00 UTC → until *2026-03-01 13:00 UTC*');
    await acme.sends(ada);
    expect(last()).toContain(`extended in *${web}*`);
    expect(acme.shown(web, 1)?.description).toBe('Frozen until 2026-03-01 13:00 UTC: Release');
    await acme.says(ada, `extend ${web} until 18h`);
    expect(acme.slack.whispered(ada)).toContain(doubtful);
    await acme.says(ada, `unfreeze ${web} it is over`);
    expect(acme.slack.windowText(ada)).toContain('Release, until 2026-03-01 13:00 UTC');
    expect(acme.frozen(web)).toEqual([1, 2]);
    await acme.sends(ada);
    expect(last()).toContain(`(ada on GitHub) ended in *${web}*: it is over`);
    expect(acme.frozen(web)).toEqual([]);
  });

  test('of everything is a plan, for admins of the owner', async () => {
    await acme.says(ada, 'freeze all until 18:00 the books');
    expect(acme.slack.windowText(ada)).toContain('*all repositories of acme* will be frozen');
    await acme.sends(ada);
    expect(acme.frozen(web)).toEqual([1, 2]);
    await acme.says(ada, 'status');
    expect(acme.slack.whispered(ada)).toContain('Frozen in *all repositories of acme*');
    await acme.says(ada, 'unfreeze plan "the books" done');
    await acme.sends(ada);
    expect(acme.frozen(web)).toEqual([]);
    // Everybody in the channel reads the answer.
    const body = { name: 'Initech', reason: 'We buy Initech', public_reason: 'Maintenance', timezone: 'UTC' };
    const plan = { ...body, repositories: { include: ['web-*'] }, start: null };
    await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: plan });
    await acme.says(ada, 'status plan initech');
    expect(acme.slack.whispered(ada)).toContain('Frozen in *the plan Maintenance*:');
    await acme.says(ada, 'unfreeze plan initech done');
    await acme.sends(ada);
    expect(last()).toContain('ended in *the plan Maintenance*: done');
    expect(last()).not.toContain('Initech');
  });

  test('happens once, however often Slack sends it', async () => {
    await acme.slack.command(ada, acme.channel, `freeze ${web} 2h once`);
    await acme.slack.repeat();
    await acme.quiet();
    const before = said();
    await acme.slack.submit(ada);
    await acme.slack.repeat();
    await acme.quiet();
    expect(said()).toBe(before + 1);
    const { body } = await acme.call('GET', `/v1/repos/${web}/scheduled_freeze`, { as: acme.admin });
    expect(body.scheduled_freezes).toHaveLength(1);
  });

  test('that is not understood is refused, for its author alone', async () => {
    const before = said();
    await acme.says(ada, `freeze ${web} INC-4711`);
    expect(acme.slack.whispered(ada)).toBe(
      '*Nothing was changed.* "INC-4711" is not a length of time. Write 2h or 1h30m, or until and a time, and then the reason.',
    );
    await acme.says(ada, `freeze ${web} until 18h x`);
    expect(acme.slack.whispered(ada)).toContain(doubtful);
    await acme.says(ada, `frezee ${web} 2h x`);
    expect(acme.slack.whispered(ada)).toMatch(
      /^Did you mean `\/holdfast freeze &lt;repository.*`\?\n\nHoldfast knows/,
    );
    await acme.says(ada, 'fly');
    expect(acme.slack.whispered(ada)).toMatch(/^Holdfast knows these commands/);
    await acme.says(ada, 'freeze');
    expect(acme.slack.whispered(ada)).toMatch(/^Holdfast knows these commands/);
    expect(acme.slack.whispered(ada)).toContain('`/holdfast freeze &lt;repository or all&gt;');
    expect(acme.slack.window(ada)).toBeNull();
    expect(said()).toBe(before);
  });
});

describe('an exemption', () => {
  test('is requested and approved', async () => {
    const wes = await acme.link('wes');
    await acme.freeze(web);
    await acme.says(wes, `exempt ${web}#1 INC-1`);
    await acme.sends(wes);
    expect(last()).toContain(
      `(wes on GitHub) requested an exemption for <https://holdfast.example/repos/${web}/pulls/1|${web}#1>`,
    );
    await acme.says(wes, `approve ${web}#1`);
    expect(acme.slack.whispered(wes)).toContain(`wes is not an admin of ${web} on GitHub`);
    await acme.says(ada, `approve ${web}#1`);
    expect(acme.slack.windowText(ada)).toContain('Reason: INC-1');
    await acme.sends(ada);
    expect(last()).toContain(`(ada on GitHub) approved the exemption of`);
    expect(acme.frozen(web)).toEqual([2]);
  });

  test('is approved by a second person, because nobody of the owner has the secret of this app', async () => {
    const name = web.split('/')[1]!;
    const settings = { two_person_exemptions: true };
    await acme.app.deps.db.repository.updateMany({ where: { name }, data: { settings } });
    const [wes, rita] = [await acme.link('wes'), await acme.link('rita')];
    await acme.freeze(web);
    await acme.says(wes, `exempt ${web}#1 INC-1`);
    await acme.sends(wes);
    await acme.says(rita, `approve ${web}#1`);
    await acme.sends(rita);
    expect(acme.frozen(web)).toEqual([2]);
  });

  test('is told without links behind other words, and in the order in which it is written', async () => {
    const said =
      '[Sign in](https://evil.example/x) <https://evil.example|here> <!channel> \u202egnp.exe\u200f';
    await acme.freeze(web, { reason: said });
    await acme.says(ada, `status ${web}#1`);
    expect(acme.slack.whispered(ada)).toBe(
      '*Blocked until removed.*\n\n• [Sign in](https://evil.example/x) &lt;https://evil.example|here&gt; &lt;!channel&gt; gnp.exe, until removed',
    );
    await acme.says(ada, `status ${web}`);
    expect(acme.slack.whispered(ada)).toContain('&lt;!channel&gt; gnp.exe, until removed');
  });
});

describe('who may', () => {
  test('a stranger gets a link for themselves, and nothing else happens', async () => {
    const eve = acme.slack.addUser('stranger');
    const before = said();
    await acme.says(eve, `freeze ${web} 2h x`);
    expect(acme.slack.whispered(eve)).toContain('Sign in with GitHub');
    expect(acme.slack.window(eve)).toBeNull();
    expect(said()).toBe(before);
    await acme.says(eve, 'help');
    expect(acme.slack.whispered(eve)).toContain('Holdfast knows these commands');
  });

  test('the link works once, for 15 minutes, and a newer one replaces it', async () => {
    const user = acme.slack.addUser('twice');
    await acme.says(user, 'status');
    const first = pathIn(acme.slack.whispered(user));
    await acme.says(user, 'status');
    const second = pathIn(acme.slack.whispered(user));
    const bob = new Visitor(acme);
    await bob.signIn('bob');
    expect((await bob.open(first)).status).toBe(404);
    expect(words(await bob.open(second))).toContain(
      'Link the Slack user twice of the workspace acme-chat with the GitHub account bob ?',
    );
    const token = new URL(second, 'https://x.example').searchParams.get('token')!;
    const form = { do: 'link', token };
    expect((await bob.sendOnce('/slack/accounts', form, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(
      403,
    );
    expect((await bob.sendOnce('/slack/accounts', form)).status).toBe(200);
    expect((await bob.sendOnce('/slack/accounts', form)).status).toBe(409);
    await acme.says(user, `freeze ${web} 2h x`);
    expect(acme.slack.whispered(user)).toContain(`bob is not an admin of ${web} on GitHub`);
    await acme.says(user, 'unlink');
    await acme.says(user, 'status');
    expect(acme.slack.whispered(user)).toContain('Sign in with GitHub');
    const late = pathIn(acme.slack.whispered(user));
    await acme.advanceTo(new Date(acme.clock.now() + 15 * 60_000));
    expect((await bob.open(late)).status).toBe(404);
  });

  test('a linked account without rights is refused, also between window and click', async () => {
    const rita = await acme.link('rita');
    await acme.says(rita, `freeze ${web} 2h x`);
    expect(acme.slack.window(rita)).not.toBeNull();
    acme.github.setRole(web, 'rita', 'read');
    await acme.sends(rita);
    expect(acme.slack.whispered(rita)).toContain(`rita is not an admin of ${web} on GitHub`);
    expect(acme.frozen(web)).toEqual([]);
  });

  test('a window that somebody else sends does nothing', async () => {
    const rita = await acme.link('rita');
    await acme.says(ada, `freeze ${web} 2h x`);
    acme.slack.passWindow(ada, rita);
    await acme.sends(rita);
    expect(acme.frozen(web)).toEqual([]);
    await acme.sends(ada);
    expect(acme.frozen(web)).toEqual([1, 2]);
  });
});

describe('what is not from Slack', () => {
  test.each([
    ['a wrong signature', { secret: 'another secret' }],
    ['no signature', { signature: null }],
    ['a short signature', { signature: 'v0=12' }],
  ])('%s is 401, and nothing happens', async (_, forged) => {
    const before = await acme.app.deps.db.slackRequest.count();
    expect((await acme.slack.command(ada, acme.channel, `freeze ${web} 2h x`, forged)).status).toBe(401);
    expect(await acme.app.deps.db.slackRequest.count()).toBe(before);
  });

  test.each([-301, 301])('a request of %d s from now is 401', async (seconds) => {
    const at = new Date(acme.clock.now() + seconds * 1000);
    expect((await acme.slack.command(ada, acme.channel, 'status', { at })).status).toBe(401);
    const soon = new Date(acme.clock.now() + Math.sign(seconds) * 299_000);
    expect((await acme.slack.command(ada, acme.channel, 'status', { at: soon })).status).toBe(200);
  });

  test('a large body is 413', async () => {
    const body = new URLSearchParams({ payload: 'x'.repeat(300_000) });
    const headers = {
      'X-Slack-Signature': `v0=${'0'.repeat(64)}`,
      'X-Slack-Request-Timestamp': String(Math.floor(acme.clock.now() / 1000)),
    };
    const answer = await fetch(`${acme.app.url}/slack/interactions`, { method: 'POST', headers, body });
    expect(answer.status).toBe(413);
  });
});

test('while Slack is down, a freeze happens, and its answer comes later', async () => {
  await acme.says(ada, `freeze ${web} 2h x`);
  acme.slack.goDown();
  await acme.slack.submit(ada);
  await acme.quiet();
  expect(acme.frozen(web)).toEqual([1, 2]);
  const before = said();
  acme.slack.comeBack();
  await acme.advanceTo(new Date(acme.clock.now() + 10_000));
  expect(said()).toBe(before + 1);
});

describe('by Socket Mode', () => {
  let socket: InSlack;
  beforeAll(async () => {
    socket = await startInSlack('socket');
    await socket.slack.connected(1);
  });
  afterAll(() => socket.close());

  test('people freeze, approve and end', async () => {
    const name = await socket.repository('web', [{}, {}]);
    const [rita, wes] = [await socket.link('rita'), await socket.link('wes')];
    await socket.says(rita, 'help');
    expect(socket.slack.whispered(rita)).toContain('Holdfast knows these commands');
    await socket.says(rita, `freeze ${name} 2h by socket`);
    await socket.sends(rita);
    expect(socket.frozen(name)).toEqual([1, 2]);
    await socket.says(wes, `exempt ${name}#1 INC-1`);
    await socket.sends(wes);
    await socket.says(rita, `approve ${name}#1`);
    await socket.sends(rita);
    expect(socket.frozen(name)).toEqual([2]);
    await socket.says(wes, `unfreeze ${name} x`);
    expect(socket.slack.whispered(wes)).toContain('wes is not an admin');
    await socket.says(rita, `unfreeze ${name} over`);
    await socket.sends(rita);
    expect(socket.frozen(name)).toEqual([]);
  });

  test('a connection that breaks is opened again, and requests over HTTP are refused', async () => {
    socket.slack.cutSockets();
    await socket.slack.connected(0);
    await socket.slack.connected(1);
    const eve = socket.slack.addUser('eve');
    socket.slack.useSockets(false);
    expect((await socket.slack.command(eve, socket.channel, 'status')).status).toBe(401);
    socket.slack.useSockets();
  });
});

test('without Slack, nothing is verified, so everything is refused', async () => {
  const none = await startInSlack(null);
  for (const path of ['/slack/commands', '/slack/interactions'])
    expect((await none.call('POST', path, { body: '' })).status).toBe(401);
  await none.close();
});
