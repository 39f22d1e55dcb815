// A change to a freeze warns of the same on every road: through the API, on a page, on the page of a plan and in Slack.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { grantDeployments } from './support/deployments.ts';
import { type InSlack, startInSlack } from './support/slack.ts';
import { Visitor, words } from './support/visitor.ts';

let acme: InSlack;
let inSlack: string;
let ada: Visitor;
let bare: string;
let count = 0;

beforeAll(async () => {
  acme = await startInSlack();
  inSlack = await acme.link('ada');
});
afterAll(() => acme.close());
beforeEach(async () => {
  // A person can make a limited number of changes in a minute.
  await acme.advanceTo(new Date(acme.clock.now() + 61_000));
  ada = new Visitor(acme);
  await ada.signIn('ada');
  bare = await acme.repository(`bare-${++count}`, [{}], { protect: {} });
});

const nothingEnforces = 'Nothing enforces this freeze on main: holdfast/freeze is not required there';
const last = () => acme.slack.messages(acme.channel).at(-1)!.text;
const hiddenIn = (text: string, name: string): string =>
  new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text)![1]!;

/** Sends a form of a page, with the version that the page has. @returns the page that follows, and its address. */
async function change(page: string, form: string, fields: Record<string, string>) {
  const { text } = await ada.open(page);
  const { location } = await ada.send(`${page}/${form}`, { version: hiddenIn(text, 'version'), ...fields });
  return { ...(await ada.open(location)), from: location };
}

/** A plan that freezes some repositories every day, and does so now. @returns its id. */
async function nightly(include: string[]): Promise<string> {
  const [start, end] = ['2026-03-01T00:00:00', '2026-03-01T18:00:00'];
  const body = { name: `Nightly ${count}`, reason: 'Night', start, end, timezone: 'UTC' };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, repositories: { include }, recurrence: { rule: 'FREQ=DAILY' } },
  });
  await acme.quiet();
  return made.body.id;
}

describe('where nothing enforces a freeze', () => {
  test('its page says so after a change, to the person who made it', async () => {
    const { id } = await acme.freeze(bare, { end: '2026-03-01T20:00:00' });
    const page = `/repos/${bare}/freezes/${id}`;
    const { status, text, from } = await change(page, 'extend', { by: 'hour' });
    expect([status, from]).toEqual([200, expect.stringContaining(`${page}?done=extended&warned=`)]);
    expect(words({ text })).toMatch(new RegExp(`The freeze was extended\\..*${nothingEnforces}`));
    const rita = new Visitor(acme);
    await rita.signIn('rita');
    expect(words(await rita.open(from))).not.toContain(nothingEnforces);
    expect(words(await ada.open(page))).not.toContain(nothingEnforces);
  });

  test('the page of a plan says so, with the repository', async () => {
    const id = await nightly([bare.split('/')[1]!]);
    const page = `/owners/acme/plans/${id}`;
    expect(words(await change(page, 'extend', { by: 'hour' }))).toContain(
      `${bare.split('/')[1]}: ${nothingEnforces}`,
    );
  });

  test('Slack says so', async () => {
    await acme.freeze(bare, { end: '2026-03-01T20:00:00' });
    await acme.says(inSlack, `extend ${bare} 1h`);
    await acme.sends(inSlack);
    expect(last()).toMatch(new RegExp(`extended in .*\n.*\n:warning: ${nothingEnforces}`));
  });
});

test('the page of a freeze says that the repository gave it an end', async () => {
  const web = await acme.repository(`web-${count}`);
  const { id } = await acme.freeze(web, { end: '2026-03-01T20:00:00' });
  const settings = `/v1/repos/${web}/settings`;
  await acme.call('PATCH', settings, { as: acme.admin, body: { longest_open_end_hours: 30 } });
  const page = `/repos/${web}/freezes/${id}`;
  expect(words(await change(page, 'edit', { end: '' }))).toContain(
    'Here a freeze without an end is given one 30 hours after it begins',
  );
});

test('the page of a plan says which environments are not there', async () => {
  await grantDeployments(acme);
  const web = await acme.repository(`web-${count}`);
  const body = { name: `Once ${count}`, reason: 'Once', end: '2026-03-01T20:00:00', timezone: 'UTC' };
  const held = { holds: ['merges', 'deployments'], environments: ['prodution'] };
  const made = await acme.call('POST', '/v1/freeze_plans/acme', {
    as: acme.admin,
    body: { ...body, ...held, start: null, repositories: { include: [web.split('/')[1]] } },
  });
  expect(made.body.warnings.join()).toContain('prodution');
  await acme.quiet();
  const extended = await change(`/owners/acme/plans/${made.body.id}`, 'extend', { by: 'hour' });
  // A page shows code as code.
  const warning: string = made.body.warnings.find((each: string) => each.includes('prodution'));
  expect(words(extended).replaceAll(' .', '.')).toContain(warning.replaceAll('`', ''));
});

test('from Slack, the ongoing freezes of a plan are extended at once, while nobody else changes the plan', async () => {
  const [one, other] = [await acme.repository(`one-${count}`), await acme.repository(`other-${count}`)];
  const planId = await nightly([one, other].map((each) => each.split('/')[1]!));
  const { db } = acme.app.deps;
  // Who has locked a row is in it.
  await db.$executeRawUnsafe(`CREATE TABLE seen (id uuid, locked boolean, transaction text)`);
  await db.$executeRawUnsafe(`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO seen SELECT NEW.id, xmax::text = pg_current_xact_id()::xid::text, pg_current_xact_id()::text
    FROM freeze_plans WHERE id = NEW.plan_id; RETURN NEW; END $$`);
  await db.$executeRawUnsafe(
    `CREATE TRIGGER see BEFORE UPDATE ON freezes FOR EACH ROW EXECUTE FUNCTION see()`,
  );
  await acme.says(inSlack, `extend plan "Nightly ${count}" 1h`);
  await acme.sends(inSlack);
  await db.$executeRawUnsafe(`DROP TRIGGER see ON freezes`);
  const ends = await db.freeze.findMany({
    where: { planId, startsAt: { lte: new Date(acme.clock.now()) } },
    select: { end: true },
  });
  expect(ends).toEqual([{ end: '2026-03-01T19:00:00' }, { end: '2026-03-01T19:00:00' }]);
  const seen = await db.$queryRawUnsafe<object[]>(
    `SELECT locked, count(DISTINCT id)::int FROM seen GROUP BY locked, transaction`,
  );
  expect(seen).toEqual([{ locked: true, count: 2 }]);
});
