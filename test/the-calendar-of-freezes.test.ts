import { describe, expect, test } from 'vitest';
import { acmeForAll, freezeBody } from './api/acme.ts';
import { assertFollowsRfc5545, readCalendar } from './support/calendars.ts';

// A team subscribes to the freezes of an owner, and follows them in their calendar app.

const acme = acmeForAll();
const path = '/v1/calendars/acme';
const as = () => ({ as: acme.keys.admin });
const make = async (body: object = {}, headers: Record<string, string> = {}) =>
  (await acme.call('POST', path, { ...as(), body, headers })).body as { id: string; url: string };
const fetchFeed = (url: string, headers: Record<string, string> = {}) =>
  fetch(acme.app.url + new URL(url).pathname, { headers });
const read = async (url: string) => readCalendar(await (await fetchFeed(url)).text());
const web = '/v1/repos/acme/web/scheduled_freeze';

test('a freeze is one event, from its creation to its end', async () => {
  const { url } = await make({ repositories: ['WEB'], public_text: false });
  expect(await read(url)).toEqual([]);
  const freeze = await acme.freeze({ reason: 'Release 7, with; care\nand 🧊 ice' });
  const [made, ...others] = await read(url);
  expect(others).toEqual([]);
  expect(made).toMatchObject({
    summary: 'Freeze of web: Release 7, with; care',
    sequence: 0,
    status: 'CONFIRMED',
    start: '2026-03-02T09:00:00.000Z',
    end: '2026-03-03T09:00:00.000Z',
    url: `https://holdfast.example/repos/acme/web/freezes/${freeze.id}`,
  });
  expect(made!.description).toMatch(
    /and 🧊 ice\n\nWhere: web\nUntil: 2026-03-03 10:00 Europe\/Paris\nCreated by: .+\nhttps:/,
  );

  await acme.call('PATCH', `${web}/${freeze.id}`, { ...as(), body: { end: '2026-03-02T20:00:00' } });
  const [changed] = await read(url);
  expect(changed).toMatchObject({ uid: made!.uid, sequence: 1, end: '2026-03-02T19:00:00.000Z' });

  await acme.call('DELETE', `${web}/${freeze.id}`, { ...as(), body: { delete_reason: 'No release' } });
  const [deleted] = await read(url);
  expect(deleted).toMatchObject({ uid: made!.uid, sequence: 2, status: 'CANCELLED' });

  // It never was on.
  await acme.advanceTo('2026-03-02T19:00:00Z');
  expect(await read(url)).toEqual([]);
});

test('a freeze of deployments says what it blocks, and so does a plan before and after it makes freezes', async () => {
  const { url } = await make({ repositories: ['web'] });
  const holding = { environments: ['production', 'live-*'], on_deployment: 'reject' };
  const alone = await acme.freeze({ reason: 'Alone', holds: ['deployments'], ...holding });
  const both = { holds: ['merges', 'deployments'], environments: ['production'], reason: 'Both' };
  const times = { start: '2026-03-20T18:00:00', end: '2026-03-21T08:00:00', timezone: 'UTC' };
  const repositories = { include: ['web'] };
  const plan = await acme.plan({
    ...both,
    ...times,
    repositories,
    recurrence: { rule: 'FREQ=MONTHLY;COUNT=3' },
  });
  const saidOf = (all: Awaited<ReturnType<typeof read>>) =>
    all
      .map(({ summary, description }) => [summary, /\n\n(.*)\nWhere: web\n/.exec(description)?.[1]])
      .toSorted();
  const deployments = 'Deployments to production and live-* are rejected; merges are not blocked.';
  const all = 'Merges are blocked; deployments to production wait.';
  expect(saidOf(await read(url))).toEqual([
    ['Deployment freeze of web: Alone', deployments],
    ...Array.from({ length: 3 }, () => ['Freeze of web: Both', all]),
  ]);
  await acme.call('DELETE', `/v1/freeze_plans/acme/${plan.id}`, as());
  await acme.call('DELETE', `${web}/${alone.id}`, { ...as(), body: { delete_reason: 'Done' } });
});

test('a freeze that somebody ends early stays as long as it was', async () => {
  const { url } = await make({ repositories: ['vault'] });
  const begun = '2026-03-02T19:00:00.000Z';
  const { id } = await acme.freeze({ start: null, end: null, timezone: 'UTC' }, 'acme/vault');
  expect(await read(url)).toMatchObject([{ start: begun, end: '2026-03-03T19:00:00.000Z', sequence: 0 }]);
  // A freeze without an end goes on until tomorrow.
  await acme.advanceTo('2026-03-04T20:00:00Z');
  expect(await read(url)).toMatchObject([{ start: begun, end: '2026-03-05T19:00:00.000Z', sequence: 2 }]);
  const body = { delete_reason: 'Done' };
  await acme.call('DELETE', `/v1/repos/acme/vault/scheduled_freeze/${id}`, { ...as(), body });
  expect(await read(url)).toMatchObject([{ status: 'CANCELLED' }]);
  await acme.advanceTo('2026-03-12T20:00:00Z');
  expect(await read(url)).toMatchObject([
    { status: 'CONFIRMED', start: begun, end: '2026-03-04T20:00:00.000Z' },
  ]);
  await acme.advanceTo('2026-06-12T20:00:00Z');
  expect(await read(url)).toEqual([]);
});

describe('a plan', () => {
  test('of many repositories is one event, until somebody changes one of its freezes', async () => {
    const { url } = await make();
    const window = {
      start: '2026-06-20T18:00:00',
      end: '2026-06-21T08:00:00',
      timezone: 'UTC',
      recurrence: null,
    };
    const plan = await acme.plan({ ...window, reason: 'Move' });
    const [one] = await read(url);
    expect(one).toMatchObject({
      summary: 'Freeze of 2 repositories: Move',
      url: `https://holdfast.example/owners/acme/plans/${plan.id}`,
    });
    expect(one!.description).toContain('Where: vault, web\nUntil: 2026-06-21 08:00 UTC\nPlan: Year end\n');

    const moved = { start: '2026-06-22T18:00:00', end: '2026-06-23T08:00:00' };
    await acme.call('PATCH', `/v1/freeze_plans/acme/${plan.id}`, { ...as(), body: moved });
    const [then] = await read(url);
    expect(then).toMatchObject({ uid: one!.uid, start: '2026-06-22T18:00:00.000Z' });
    expect(then!.sequence).toBeGreaterThan(one!.sequence);

    const [freeze] = (await acme.call('GET', web, as())).body.scheduled_freezes;
    await acme.call('PATCH', `${web}/${freeze.id}`, { ...as(), body: { reason: 'Move of web' } });
    expect((await read(url)).map(({ summary }) => summary).toSorted()).toEqual([
      'Freeze of vault: Move',
      'Freeze of web: Move of web',
    ]);

    await acme.call('DELETE', `/v1/freeze_plans/acme/${plan.id}`, as());
    const after = await read(url);
    expect(after.find(({ uid }) => uid === one!.uid)).toMatchObject({ status: 'CANCELLED' });
    await acme.call('DELETE', `${web}/${freeze.id}`, { ...as(), body: { delete_reason: 'Moved' } });
    await acme.advanceTo('2026-06-24T00:00:00Z');
    expect(await read(url)).toEqual([]);
  });

  test('that repeats has the events of a year, and the same ones once they are made', async () => {
    const { url } = await make({ repositories: ['web'] });
    const rule = { rule: 'FREQ=WEEKLY' };
    const weekly = { start: '2026-07-03T18:00:00', end: '2026-07-06T06:00:00', recurrence: rule };
    const plan = await acme.plan(weekly);
    const before = await read(url);
    expect(before.length).toBe(51);
    expect(new Set(before.map(({ summary }) => summary))).toEqual(
      new Set(['Freeze of web: Books are closed']),
    );
    for (const at of ['2026-07-10', '2026-08-01', '2026-08-20']) await acme.advanceTo(`${at}T00:00:00Z`);
    const later = new Map((await read(url)).map((event) => [event.uid, event]));
    expect(before.filter(({ uid }) => !later.has(uid))).toEqual([]);
    expect(before.filter(({ uid, sequence }) => later.get(uid)!.sequence < sequence)).toEqual([]);

    // What is left out is no event any more; what existed already, is cancelled.
    const change = { recurrence: { ...rule, until: '2026-08-21' } };
    await acme.call('PATCH', `/v1/freeze_plans/acme/${plan.id}`, { ...as(), body: change });
    const ahead = (await read(url)).filter(({ start }) => start > '2026-08-20');
    expect(ahead.filter(({ status }) => status === 'CONFIRMED').map(({ start }) => start)).toEqual([
      '2026-08-21T16:00:00.000Z',
    ]);
    expect(ahead.length).toBeGreaterThan(3);
    await acme.call('DELETE', `/v1/freeze_plans/acme/${plan.id}`, as());
  });
});

test('with public text, nobody reads a private reason or who made it', async () => {
  const open = await make({ repositories: ['web'] });
  const inside = await make({ repositories: ['web'], public_text: false });
  const times = { start: '2027-03-02T10:00:00', end: '2027-03-03T10:00:00' };
  const { id } = await acme.freeze({ ...times, reason: 'CVE-1, secret', public_reason: 'Maintenance' });
  const texts = await Promise.all([open, inside].map(async ({ url }) => (await fetchFeed(url)).text()));
  expect(texts[0]).toContain('Maintenance');
  expect(texts[0]).not.toMatch(/CVE-1|Created by/);
  expect(texts[1]).toMatch(/CVE-1[^]*Created by/);
  await acme.call('DELETE', `${web}/${id}`, { ...as(), body: { delete_reason: 'Done' } });
});

test('an app that asks again learns that nothing changed', async () => {
  const { url } = await make();
  await acme.freeze({ start: '2027-05-02T10:00:00', end: '2027-05-03T10:00:00' });
  const first = await fetchFeed(url);
  const etag = first.headers.get('etag')!;
  expect(first.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
  expect(first.headers.get('cache-control')).toMatch(/^private/);
  expect(first.headers.get('referrer-policy')).toBe('no-referrer');
  assertFollowsRfc5545(await first.text());
  const again = await fetchFeed(url, { 'If-None-Match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
  await acme.freeze({ ...freezeBody, start: '2027-06-02T10:00:00', end: '2027-06-03T10:00:00' });
  expect((await fetchFeed(url, { 'If-None-Match': etag })).status).toBe(200);
});

describe('the address', () => {
  test('is in the first answer alone, and in none of the logs', async () => {
    const headers = { 'Idempotency-Key': 'one calendar' };
    const made = await make({}, headers);
    expect((await make({}, headers)).url).toBe(made.url);
    const token = /hf_cal_[\w-]+/.exec(made.url)![0];
    await fetchFeed(made.url);
    const list = await acme.call('GET', path, as());
    expect(list.body.calendars.find(({ id }: { id: string }) => id === made.id)).toEqual({
      id: made.id,
      repositories: null,
      public_text: true,
      created_by: expect.objectContaining({ type: 'application' }),
      created_at: expect.any(String),
    });
    expect(list.text).not.toContain(token);
    expect(acme.logs.some((line) => line.includes('/calendars/[secret].ics'))).toBe(true);
    expect(acme.logs.filter((line) => line.includes(token))).toEqual([]);
    const log = await acme.call('GET', '/v1/logs/acme?event_type=calendar.create', as());
    expect(log.body.events?.length ?? log.text).toBeTruthy();
    expect(log.text).not.toContain(token);
  });

  test('leads nowhere once its calendar is deleted, as one that never was', async () => {
    const { id, url } = await make();
    expect(
      (await acme.call('DELETE', `/v1/calendars/globex/${id}`, { as: acme.keys.foreignAdmin })).status,
    ).toBe(404);
    expect((await fetchFeed(url)).status).toBe(200);
    expect((await acme.call('DELETE', `${path}/${id}`, as())).status).toBe(204);
    expect((await acme.call('DELETE', `${path}/${id}`, as())).status).toBe(404);
    for (const other of [url, `${url}x`, url.replace('.ics', ''), url.replace(/_cal_./, '_cal_-')])
      expect((await fetchFeed(other)).status, other).toBe(404);
  });
});

test('a repository that the owner does not have is refused', async () => {
  const answer = await acme.call('POST', path, { ...as(), body: { repositories: ['web', 'nope'] } });
  expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'repositories', 1]]);
});

test('control characters of a reason are blanks', async () => {
  const { url } = await make({ repositories: ['web'], public_text: false });
  const times = { start: '2026-12-01T10:00:00', end: '2026-12-02T10:00:00' };
  await acme.freeze({ ...times, reason: 'Release\u000B7\u0007\r\nfrom \u001BWord' });
  expect((await read(url)).find(({ start }) => start > '2026-12')).toMatchObject({
    summary: 'Freeze of web: Release 7 ',
    description: expect.stringMatching(/^Release 7 \nfrom {2}Word\n/),
  });
});
