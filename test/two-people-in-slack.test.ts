// An owner's own Slack app speaks for whom its admins want, so it proves no second person.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { exemptionsOf } from './support/exemptions.ts';
import { type InSlack, pathIn, startInSlack } from './support/slack.ts';
import { Visitor, words } from './support/visitor.ts';

let acme: InSlack;
let rita: string;
let wes: string;
let web: string;
let exemptions: ReturnType<typeof exemptionsOf>;
let count = 0;

const askForTwo = (is: boolean) =>
  acme.call('PATCH', '/v1/settings/acme', { as: acme.admin, body: { two_person_exemptions: is } });

beforeAll(async () => {
  acme = await startInSlack(null);
  exemptions = exemptionsOf(acme);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const { botToken: bot_token, signingSecret: signing_secret } = acme.slack;
  const given = { do: 'connect-slack', bot_token, signing_secret, app_token: '' };
  expect((await ada.sendOnce('/owners/acme/settings', given)).status).toBe(303);
  [rita, wes] = [await acme.link('rita'), await acme.link('wes')];
});
afterAll(() => acme.close());
beforeEach(async () => {
  await askForTwo(true);
  web = await acme.repository(`web-${++count}`, [{}]);
  await acme.freeze(web);
});
const page = () => `https://holdfast.example/repos/${web}/pulls/1`;

test('the app of an owner approves nothing where two people must, by command or button, and says where', async () => {
  const channel = acme.slack.addChannel('told');
  await acme.slack.command(await acme.link('ada'), channel, `subscribe acme ${web.split('/')[1]}`);
  await acme.quiet();
  // ada, who knows the signing secret, sends the rest in rita's name.
  const asked = await exemptions.exempt(web, 1, {}, acme.tokens.ada);
  await acme.says(rita, `approve ${web}#1`);
  await acme.sends(rita);
  expect(acme.slack.whispered(rita)).toMatch(/two people.* Slack app of acme/);
  expect(acme.slack.whispered(rita)).toContain(page());
  const before = acme.slack.messages(channel).at(-1)!;
  await acme.slack.press(rita, before, 'holdfast_approve');
  await acme.quiet();
  expect(acme.slack.whispered(rita)).toContain(page());
  expect(await exemptions.list(web)).toMatchObject([{ id: asked.id, state: 'requested' }]);
  expect(acme.frozen(web)).toEqual([1]);
  // To deny needs one.
  await acme.says(rita, `deny ${web}#1 no`);
  await acme.sends(rita);
  expect(await exemptions.list(web)).toMatchObject([{ state: 'denied', decided_by: { name: 'rita' } }]);
});

test('it requests nothing there either: who approves that could be the same person', async () => {
  await acme.says(wes, `exempt ${web}#1 INC-1`);
  await acme.sends(wes);
  expect(acme.slack.whispered(wes)).toContain(page());
  expect(await exemptions.list(web)).toEqual([]);
});

test('it approves where one person is enough, and the log says through whose app', async () => {
  await askForTwo(false);
  const asked = await exemptions.exempt(web, 1, {}, acme.tokens.wes);
  await acme.says(rita, `approve ${web}#1`);
  await acme.sends(rita);
  expect(await exemptions.list(web)).toMatchObject([{ id: asked.id, state: 'approved' }]);
  const events = await acme.events(web, 'exemption.approved');
  const via = { slack_team_id: 'T0ACME', slack_app: 'owner' };
  expect(events).toMatchObject([{ trigger: 'slack', metadata: { via } }]);
});

test('the page that links accounts names its owner, with what its admins could do', async () => {
  const user = acme.slack.addUser('bob');
  await acme.says(user, 'status');
  const path = pathIn(acme.slack.whispered(user));
  const bob = new Visitor(acme);
  const asked = words(await bob.open((await bob.signIn('bob', path)).location));
  expect(asked).toMatch(/the Slack app of acme .*could use the link in your name/);
});
