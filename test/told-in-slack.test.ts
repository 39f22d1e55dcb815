// Channels and people hear in Slack what happens, and decide with buttons, with what GitHub lets them do.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type InSlack, startInSlack } from './support/slack.ts';

let acme: InSlack;
let ada: string;
let wes: string;
let web: string;
let channel: string;
let count = 0;
beforeAll(async () => {
  acme = await startInSlack();
  ada = await acme.link('ada');
  wes = await acme.link('wes');
});
afterAll(() => acme.close());
beforeEach(async () => {
  web = await acme.repository(`web-${++count}`, [{}, { author: 'wes' }]);
  channel = acme.slack.addChannel(`told-${count}`);
  await acme.slack.command(ada, channel, `subscribe acme web-${count}`);
  await acme.quiet();
});

const posted = () => acme.slack.messages(channel);
const last = () => posted().at(-1)!;
const press = async (user: string, name: string, message = last()) => {
  await acme.slack.press(user, message, name);
  await acme.quiet();
};
const buttons = (message = last()) =>
  message.blocks.flatMap((block) =>
    (block.type === 'actions' ? block.elements : []).map(
      (each: { text: { text: string } }) => each.text.text,
    ),
  );

describe('a channel', () => {
  test('is told of a freeze, which its buttons extend and end', async () => {
    expect(last().text).toContain(`(ada on GitHub) subscribed this channel to web-${count} of acme`);
    await acme.freeze(web, { reason: 'Release', end: '2026-03-01T12:00:00' });
    const began = last();
    expect(began.text).toContain('Release');
    expect(buttons()).toEqual(['Extend 1 h', 'End…']);
    await press(wes, 'holdfast_extend', began);
    expect(acme.slack.whispered(wes)).toContain(`wes is not an admin of ${web} on GitHub`);
    await acme.slack.press(ada, began, 'holdfast_extend');
    await acme.slack.repeat();
    await acme.quiet();
    expect(acme.shown(web, 1)?.description).toBe('Frozen until 2026-03-01 13:00 UTC: Release');
    expect(
      posted()
        .map(({ text }) => text)
        .join('\n'),
    ).toContain(`(ada on GitHub) extended in *${web}*`);
    await press(ada, 'holdfast_end', began);
    expect(acme.frozen(web)).toEqual([1, 2]);
    await acme.sends(ada, 'It is over');
    expect(acme.frozen(web)).toEqual([]);
    expect(
      posted()
        .map(({ text }) => text)
        .join('\n'),
    ).toContain(`(ada on GitHub) ended in *${web}*: It is over`);
    expect(began.text).toContain('Release');
    expect(buttons(began)).toEqual([]);
  });

  test('decides on exemptions, and the message shows the decision, wherever it was made', async () => {
    await acme.freeze(web);
    const path = `/v1/repos/${web}/pulls/1/exemptions`;
    const request = (reason: string) => acme.call('POST', path, { as: acme.tokens.wes, body: { reason } });
    await request('INC-1');
    await acme.quiet();
    const first = last();
    expect(first.text).toContain('INC-1');
    expect(buttons()).toEqual(['Approve', 'Deny…']);
    await press(wes, 'holdfast_approve', first);
    expect(acme.slack.whispered(wes)).toContain('wes is not an admin');
    expect(acme.frozen(web)).toEqual([1, 2]);
    await press(ada, 'holdfast_approve', first);
    expect(acme.frozen(web)).toEqual([2]);
    expect(buttons(first)).toEqual([]);
    const { body } = await acme.call('GET', `/v1/repos/${web}/exemptions`, { as: acme.admin });
    await acme.call('POST', `/v1/repos/${web}/exemptions/${body.exemptions[0].id}/revoke`, {
      as: acme.admin,
      body: { reason: 'x' },
    });
    await acme.quiet();
    await request('INC-2');
    await acme.quiet();
    const second = posted().findLast(({ text }) => text.includes('INC-2'))!;
    await press(ada, 'holdfast_deny', second);
    await acme.sends(ada, 'Not today');
    expect(buttons(second)).toEqual([]);
    expect(second.text).toContain('Not today');
  });

  test('decides on exemptions of deployments too', async () => {
    const path = `/v1/repos/${web}/deployment_exemptions`;
    const body = { environment: 'production', run_id: 4711, reason: 'INC-3' };
    await acme.call('POST', path, { as: acme.tokens.wes, body });
    await acme.quiet();
    const request = last();
    expect(request.text).toContain('production');
    await press(wes, 'holdfast_approve', request);
    expect(acme.slack.whispered(wes)).toContain('wes is not an admin');
    await press(ada, 'holdfast_approve', request);
    expect(buttons(request)).toEqual([]);
    const answer = await acme.call('GET', path, { as: acme.admin });
    expect(answer.body.deployment_exemptions).toMatchObject([{ state: 'approved', run_id: 4711 }]);
  });

  test('that is gone disables its webhook', async () => {
    const { outgoingWebhook } = acme.app.deps.db;
    await outgoingWebhook.updateMany({ where: { slackChannel: channel }, data: { slackChannel: 'C0GONE' } });
    await acme.freeze(web);
    expect(await outgoingWebhook.findFirst({ where: { slackChannel: 'C0GONE' } })).toMatchObject({
      isEnabled: false,
    });
  });

  test('is subscribed by admins of the owner alone, and can be unsubscribed', async () => {
    await acme.slack.command(wes, channel, 'subscribe acme');
    await acme.quiet();
    expect(acme.slack.whispered(wes)).toContain('is not an admin of acme');
    await acme.slack.command(ada, channel, 'unsubscribe');
    await acme.quiet();
    const before = posted().length;
    await acme.freeze(web);
    expect(posted().length).toBe(before);
  });
});

describe('an author of a blocked pull request', () => {
  test('gets one message at the beginning and one at the end', async () => {
    // What the tests before tell comes first.
    await acme.advanceTo(new Date(acme.clock.now() + 10_000));
    const before = acme.slack.messagesTo(wes).length;
    const { id } = await acme.freeze(web, { reason: 'Release' });
    await acme.advanceTo(new Date(acme.clock.now() + 5_000));
    const [began, ...others] = acme.slack.messagesTo(wes).slice(before);
    expect(others).toEqual([]);
    expect(began!.text).toContain('A freeze blocks your pull requests until removed: Release');
    expect(began!.text).toContain(`/repos/${web}/pulls/2|${web}#2>`);
    expect(began!.text).not.toContain(`${web}#1>`);
    await acme.remove(web, id);
    await acme.advanceTo(new Date(acme.clock.now() + 5_000));
    const [, ended, ...more] = acme.slack.messagesTo(wes).slice(before);
    expect(ended!.text).toContain('The freeze is over.');
    expect(more).toEqual([]);
  });

  test('gets none after turning them off', async () => {
    await acme.says(wes, 'notify off');
    const before = acme.slack.messagesTo(wes).length;
    const { id } = await acme.freeze(web);
    await acme.remove(web, id);
    await acme.advanceTo(new Date(acme.clock.now() + 5_000));
    expect(acme.slack.messagesTo(wes).length).toBe(before);
    await acme.says(wes, 'notify on');
  });
});

test('Slack that is down or limits delays no freeze, and is told later', async () => {
  const before = posted().length;
  acme.slack.goDown();
  await acme.freeze(web);
  expect(acme.frozen(web)).toEqual([1, 2]);
  acme.slack.comeBack();
  await acme.advanceTo(new Date(acme.clock.now() + 15_000));
  expect(posted().length).toBe(before + 1);
});
