import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CalendarFile, startCalendarFile } from '../../sandbox/calendar-file.ts';
import { acmeForAll } from '../support/acme.ts';
import { readCalendar } from '../support/calendars.ts';
import { hiddenOf, Visitor } from '../support/visitor.ts';

// On the pages: an admin makes a calendar of freezes, and a plan that follows the calendar of others.

const acme = acmeForAll();
let [ada, rita]: Visitor[] = [];
let calendar: CalendarFile;
const subscribe = '/owners/acme/calendar/subscribe';

beforeAll(async () => {
  calendar = await startCalendarFile();
  acme.github.addUser('rita');
  await acme.repository('web', [{}], { roles: { rita: 'admin' } });
  [ada, rita] = [new Visitor(acme), new Visitor(acme)];
  await ada.signIn('ada');
  await rita.signIn('rita');
});
afterAll(() => calendar.close());
// One person changes only so much in a minute.
beforeEach(() => acme.advanceTo(new Date(acme.clock.now() + 120_000)));

test('a calendar is made, its address shown once with a button, and deleted', async () => {
  expect((await ada!.open('/owners/acme/calendar')).text).toContain(`href="${subscribe}"`);
  const made = await ada!.send(subscribe, { repositories: 'web', text: 'all' });
  const [url] = /https:\/\/holdfast\.example\/calendars\/hf_cal_[\w-]+\.ics/.exec(made.text)!;
  expect(made.text).toContain(`data-copy="${url}"`);
  expect(made.text).toContain(`href="${url.replace('https:', 'webcal:')}"`);
  const { pathname } = new URL(url);
  const feed = () => fetch(acme.app.url + pathname);
  expect(readCalendar(await (await feed()).text())).toEqual([]);

  const { text } = await ada!.open(subscribe);
  expect(text).toContain('<strong>web</strong>');
  expect(text).not.toContain('hf_cal_');
  const [, id] = /name="id" value="([^"]+)"/.exec(text)!;
  expect((await ada!.send(subscribe, { do: 'delete', id: id! })).status).toBe(303);
  expect((await feed()).status).toBe(404);
});

test('a repository that there is not is an error at its field', async () => {
  const { status, text } = await ada!.send(subscribe, { repositories: 'nope', text: 'public' });
  expect([status, text.includes('id="repositories-problem"')]).toEqual([422, true]);
});

test('others than admins of the owner cannot subscribe', async () => {
  expect((await rita!.open('/owners/acme/calendar')).text).not.toContain(subscribe);
  expect((await rita!.open(subscribe)).status).toBe(403);
  expect((await rita!.send(subscribe, { text: 'all' })).status).toBe(403);
  expect(await acme.app.deps.db.calendarFeed.count()).toBe(0);
});

async function save(path: string, given: Record<string, string | string[]>) {
  const fields = { ...given, version: hiddenOf((await ada!.open(path)).text, 'version') };
  const { text } = await ada!.send(path, { ...fields, step: 'preview' });
  return {
    text,
    saved: await ada!.send(path, { ...fields, previewed: hiddenOf(text, 'previewed'), step: 'save' }),
  };
}

test('a plan follows a calendar: previewed, created, shown, edited', async () => {
  const event = (uid: string, title: string, day: string) => [
    `UID:${uid}`,
    `SUMMARY:${title}`,
    `DTSTART:${day}`,
  ];
  calendar.publish(event('a', 'Public holiday', '20260406'), event('b', 'Party', '20260407'));
  const fields = {
    ...{ name: 'Holidays', reason: 'Public holiday', include: 'web', zone: 'Europe/Paris' },
    ...{ repeat: 'calendar', source: calendar.url, titles: '*holiday*' },
  };
  const created = await save('/owners/acme/plans/new', fields);
  expect(created.text).toContain('Next 1 freeze');
  const page = created.saved.location!;
  expect(page).toMatch(/^\/owners\/acme\/plans\/[\w-]+$/);
  expect((await ada!.open(page)).text).toContain(calendar.url);
  expect((await ada!.open('/owners/acme/plans')).text).toContain('Follows a calendar');

  const edited = await save(`${page}/edit`, { ...fields, titles: '*holiday*\nparty' });
  expect(edited.saved.status).toBe(303);
  const plan = await acme.app.deps.db.freezePlan.findFirstOrThrow({ where: { name: 'Holidays' } });
  expect(plan.source).toMatchObject({ titles: ['*holiday*', 'party'] });
  expect(
    await acme.app.deps.db.freeze.count({ where: { planId: plan.id, deletedAt: null } }),
  ).toBeGreaterThan(0);

  calendar.trouble({ status: 404 });
  const refused = await ada!.send(`${page}/edit`, {
    ...{ ...fields, titles: '', step: 'preview' },
    version: hiddenOf((await ada!.open(`${page}/edit`)).text, 'version'),
  });
  expect([refused.status, refused.text.includes('id="source-problem"')]).toEqual([422, true]);
  await acme.advanceTo(new Date(acme.clock.now() + 20 * 60_000));
  expect((await ada!.open(page)).text).toContain('answered 404. The events that it had before still freeze.');
  calendar.trouble(null);
});
