// The audit log says by which road each thing came about.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadNotices } from '../src/notices/notice.ts';
import { exemptionsOf } from './support/exemptions.ts';
import { type InSlack, startInSlack } from './support/slack.ts';
import { Visitor } from './support/visitor.ts';

let acme: InSlack;
let web: string;
beforeAll(async () => {
  acme = await startInSlack();
  web = await acme.repository('web', [{}, {}, {}]);
});
afterAll(() => acme.close());

type Told = { id: number; type: string; trigger: string; metadata: { via?: object } };
let seen = 0;
/** What the owner's log has since the last look, the earliest first. */
async function news(query = ''): Promise<Told[]> {
  const path = `/v1/logs/acme?repositories=all&per_page=100${query}`;
  const { body } = await acme.call('GET', path, { as: acme.admin });
  const events = (body.events as Told[]).filter(({ id }) => id > seen).toReversed();
  seen = Math.max(seen, ...events.map(({ id }) => id));
  return events;
}
const roads = (events: Told[]) => events.map(({ type, trigger }) => `${type}: ${trigger}`);
const list = `/v1/repos/acme/web/scheduled_freeze`;
const now = { start: null, timezone: 'UTC' };

test('the API, also with the token of a person, and a page', async () => {
  await news();
  const { id } = await acme.freeze(web);
  await acme.call('DELETE', `${list}/${id}`, { as: acme.tokens.ada, body: { delete_reason: 'Done' } });
  const other = await acme.freeze(web);
  const ada = new Visitor(acme);
  await ada.signIn('ada');
  const ended = await ada.sendOnce('/owners/acme/unfreeze', {
    ...{ repository: 'web', ongoing: `freezes ${other.id}`, delete_reason: 'Done' },
  });
  expect(ended.status).toBe(303);
  await acme.quiet();
  expect(roads(await news())).toEqual([
    'scheduled_freeze.create: api',
    'scheduled_freeze.delete: api',
    'scheduled_freeze.create: api',
    'scheduled_freeze.delete: page',
  ]);
});

test('a comment, and Slack with the workspace and whose app it is', async () => {
  await acme.say(web, 1, 'ada', '/holdfast freeze 2h INC-1');
  const ada = await acme.link('ada');
  await acme.says(ada, `unfreeze ${web} it is over`);
  await acme.sends(ada);
  const events = await news();
  expect(roads(events)).toEqual(['scheduled_freeze.create: comment', 'scheduled_freeze.delete: slack']);
  const via = { slack_team_id: expect.stringMatching(/^T/), slack_app: 'service' };
  expect(events.map(({ metadata }) => metadata.via)).toEqual([undefined, via]);
  expect((await news('&trigger=slack')).length).toBe(0);
  seen--;
  expect(roads(await news('&trigger=slack'))).toEqual(['scheduled_freeze.delete: slack']);
  // It is for the owner's log, and for no channel.
  expect(JSON.stringify(await loadNotices(acme.app.deps, [BigInt(seen)]))).not.toContain('slack_app');
});

test('a plan, and the clock', async () => {
  const body = { ...now, name: 'Night', reason: 'Night', repositories: { include: ['web'] } };
  const end = new Date(acme.clock.now() + 3_600_000).toISOString().slice(0, 19);
  await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body: { ...body, end } });
  await acme.advanceTo(`${end}Z`);
  expect(roads(await news())).toEqual([
    'freeze_plan.create: api',
    'scheduled_freeze.create: plan',
    'freeze.ended: clock',
  ]);
});

test('what happened on GitHub: a push, and a merge past a freeze; and the time of an exemption', async () => {
  const exemptions = exemptionsOf(acme);
  const { id } = await acme.freeze(web);
  for (const number of [1, 2]) await exemptions.exempt(web, number, {}, acme.tokens.ada);
  await news();
  acme.github.push(web, 1);
  await acme.quiet();
  acme.github.bypassMerge(web, 3, 'ada');
  await acme.quiet();
  expect(roads(await news())).toEqual(['exemption.expired: github', 'freeze.bypassed: github']);
  await acme.advanceTo(new Date(acme.clock.now() + 24 * 3_600_000));
  expect(roads(await news())).toEqual(['exemption.expired: clock']);
  await acme.remove(web, id);
});
