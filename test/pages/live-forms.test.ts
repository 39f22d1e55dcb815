import { beforeAll, beforeEach, expect, test } from 'vitest';
import { changesPerMinute } from '../../src/github/limits/caller-limits.ts';
import { acmeForAll } from '../support/acme.ts';
import { hiddenOf, Visitor } from '../support/visitor.ts';

// The forms of a freeze and of a plan show beside their fields what they would do, while one fills them in.

const acme = acmeForAll();
let ada: Visitor;
const newPlan = '/owners/acme/plans/new';
const freezeNow = '/owners/acme/freeze';
const wordsOf = (text: string) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
const live = (path: string, fields: [string, string][], visitor = ada) =>
  visitor.open(`${path}?${new URLSearchParams([['live', ''], ...fields])}`);
const fridays: [string, string][] = [
  ['repository', 'web'],
  ['repository', 'api'],
  ['include', ''],
  ['which', 'ticked'],
  ['start', '2026-11-27T09:00'],
  ['end', '2026-11-27T18:00'],
  ['zone', 'UTC'],
  ['repeat', 'every'],
  ['every', '2'],
];

beforeAll(async () => {
  acme.github.addUser('mallory');
  for (const name of ['web', 'api', 'api-docs', 'docs']) await acme.repository(name, [{}]);
  ada = new Visitor(acme);
  await ada.signIn('ada');
});
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

test('a plan is said in a sentence before there is a reason, and a day can be taken out', async () => {
  const { status, text } = await live(newPlan, [...fridays, ['off', '2026-12-25']]);
  expect(status, text).toBe(200);
  expect(wordsOf(text)).toContain(
    'Blocks merges every second Friday 09:00 to 18:00 from 27 Nov, not on 25 Dec, in 2 repositories.',
  );
  const days = [...text.matchAll(/name="off"\s+value="([^"]+)"\s+aria-label="[^"]+"(\s+checked)?/g)];
  expect(days.slice(0, 4).map(([, day, isOff]) => [day, isOff !== undefined])).toEqual([
    ['2026-11-27', false],
    ['2026-12-11', false],
    ['2026-12-25', true],
    ['2027-01-08', false],
  ]);
  expect(text).toMatch(/name="except"[^>]*>\n?<\/textarea>/);
  expect(await acme.app.deps.db.freezePlan.count()).toBe(0);
  expect((await live(newPlan, fridays, new Visitor(acme))).status).toBe(403);
});

test('what was previewed is made with the reason that came later', async () => {
  const { text } = await live(newPlan, [...fridays, ['off', '2026-12-25']]);
  const previewed = { previewed: hiddenOf(text, 'previewed'), key: hiddenOf(text, 'key') };
  const fields = Object.fromEntries(fridays.filter(([name]) => name !== 'repository'));
  const made = await ada.send(newPlan, {
    ...fields,
    ...{ repository: ['web', 'api'], off: '2026-12-25', reason: 'Release', name: 'Fridays' },
    ...{ ...previewed, step: 'save' },
  });
  expect([made.status, made.location.split('?')[0]]).toEqual([
    303,
    expect.stringMatching(/\/plans\/[\da-f-]+$/),
  ]);
  const plan = await acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name: 'Fridays' } });
  expect([plan.include, plan.except, plan.reason]).toEqual([['web', 'api'], ['2026-12-25'], 'Release']);
});

test('somebody who may not freeze there sees no preview', async () => {
  const mallory = new Visitor(acme);
  await mallory.signIn('mallory');
  const { status, text } = await live(newPlan, fridays, mallory);
  expect(status).toBe(403);
  expect(text).not.toContain('sentence');
});

test('another freeze of the same repositories at that time is named', async () => {
  await acme.freeze('acme/web', { reason: 'Audit', end: '2026-12-01T00:00:00' });
  await acme.quiet();
  const fields: [string, string][] = [
    ['which', 'ticked'],
    ['repository', 'web'],
    ['repository', 'api'],
    ['duration', '2h'],
  ];
  expect(wordsOf((await live(freezeNow, fields)).text)).toMatch(
    /Audit freezes 1 repository of these too, until Tue 1 Dec, 00:00/,
  );
  const other = await live(freezeNow, [
    ['which', 'ticked'],
    ['repository', 'docs'],
    ['duration', '2h'],
  ]);
  expect(wordsOf(other.text)).not.toContain('of these too');
  // It blocks merges, so deployments go out.
  const holding = async (what: string) => wordsOf((await live(freezeNow, [...fields, ['holds', what]])).text);
  expect(await holding('deployments')).not.toContain('of these too');
  expect(await holding('both')).toContain('of these too');
  expect(wordsOf(other.text)).toContain('in acme/docs.');
});

test('a filter offers all that match as a pattern', async () => {
  for (let at = 0; at < 12; at += 1) await acme.repository(`app-${at}`);
  const { text } = await live(newPlan, [...fridays, ['filter', 'app-']]);
  expect(wordsOf(text)).toContain('All 12 whose names contain “app-”, and those to come');
  expect(text).toContain('value="*app-*"');
  const chosen = await live(newPlan, [...fridays, ['repository', '*app-*']]);
  expect(wordsOf(chosen.text)).toContain('in 14 repositories.');
});

test('a plan and a freeze are duplicated into the form of a new plan', async () => {
  const { id } = await acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name: 'Fridays' } });
  expect((await ada.open(`/owners/acme/plans/${id}`)).text).toContain(`href="${newPlan}?copy=${id}"`);
  const copy = await ada.open(`${newPlan}?copy=${id}`);
  expect(copy.text).toMatch(/name="every"[^>]*value="2"/);
  expect(copy.text).toMatch(/name="repository"\s+value="web"\s+checked/);
  expect(copy.text).toMatch(/>\s*Release<\/textarea>/);
  const freeze = await acme.freeze('acme/docs', {
    reason: 'Docs move',
    start: '2026-12-01T10:00:00',
    end: '2026-12-02T10:00:00',
  });
  expect((await ada.open(`/repos/acme/docs/freezes/${freeze.id}`)).text).toContain(`?copy=${freeze.id}`);
  const other = await ada.open(`${newPlan}?copy=${freeze.id}`);
  expect(other.text).toMatch(/>\s*Docs move<\/textarea>/);
  expect(other.text).toMatch(/name="start"[^>]*value="2026-12-01T10:00:00"/);
  for (const nothing of ['x', crypto.randomUUID()])
    expect((await ada.open(`${newPlan}?copy=${nothing}`)).status).toBe(200);
});

test('previews read calendars a limited number of times in a minute', async () => {
  const fields = fridays.filter(([name]) => name !== 'repeat');
  const follow = () =>
    live(newPlan, [...fields, ['repeat', 'calendar'], ['source', 'https://127.0.0.1/days.ics']]);
  for (let count = 0; count < changesPerMinute; count++) expect((await follow()).status).toBe(200);
  expect((await follow()).status).toBe(429);
  expect((await live(newPlan, fridays)).status).toBe(200);
});
