import { describe, expect, test } from 'vitest';
import { freezeBody, acmeForAll } from './acme.ts';

const acme = acmeForAll();

// The clock of these tests shows 2026-03-01T09:00:00Z.
const path = '/v1/repos/acme/web/scheduled_freeze';
type Times = { start?: string | null; end?: string | null; timezone?: string | null };

const create = (times: Times) =>
  acme.call('POST', path, { as: acme.keys.admin, body: { reason: 'x', ...times } });
const update = (id: string, change: object) =>
  acme.call('PATCH', `${path}/${id}`, { as: acme.keys.admin, body: change });
const row = (id: string) => acme.app.deps.db.freeze.findUniqueOrThrow({ where: { id } });

/** The instants that the wall-clock times were understood as. */
async function instants(id: string) {
  const { startsAt, endsAt } = await row(id);
  return [startsAt.toISOString(), endsAt?.toISOString() ?? null];
}

const notTimes: [string, RegExp][] = [
  ['2026-03-02T10:00:00Z', /has a zone designator.*without it/],
  ['2026-03-02T10:00:00z', /has a zone designator/],
  ['2026-03-02T10:00Z', /has a zone designator/],
  ['2026-03-02T10:00:00.000Z', /has a zone designator/],
  ['2026-03-02T10:00:00+01:00', /has a zone designator/],
  ['2026-03-02T10:00:00-0800', /has a zone designator/],
  ['2026-03-02T10:00:00+01', /has a zone designator/],
  ['2026-03-02T10:00:00 +01:00', /has a zone designator/],
  ['2026-03-02 10:00:00+01:00', /has a zone designator/],
  ['2026-03-02T10:00:00[Europe/Paris]', /has a zone designator/],
  ['2026-03-02T10:00:00+01:00[Europe/Paris]', /has a zone designator/],
  ['20260302T100000Z', /has a zone designator/],
  ['2026-03-02', /date without a time/],
  ['2026-03-02 10:00:00', /not a wall-clock time/],
  ['2026-03-02T10', /not a wall-clock time/],
  ['2026-03-02T1000', /not a wall-clock time/],
  ['2026-03-02T10:00:00.', /not a wall-clock time/],
  ['2026-03-02T10:00:00,5', /not a wall-clock time/],
  ['2026-03-02T10:00:00.1234567890', /not a wall-clock time/],
  ['2026-03-02t10:00:00', /not a wall-clock time/],
  ['2026-3-2T10:00:00', /not a wall-clock time/],
  ['+002026-03-02T10:00:00', /not a wall-clock time/],
  ['-002026-03-02T10:00:00', /not a wall-clock time/],
  ['10000-01-01T00:00:00', /not a wall-clock time/],
  ['0000-01-01T00:00:00', /not a wall-clock time/],
  ['2026-W10-1T10:00:00', /not a wall-clock time/],
  ['2026-061T10:00:00', /not a wall-clock time/],
  ['2026-03-02T23:59:60', /not a wall-clock time/],
  ['2026-03-02T24:00:00', /no such date or time/],
  ['2026-03-02T10:60:00', /no such date or time/],
  ['2026-03-02T10:00:61', /no such date or time/],
  ['2026-02-29T10:00:00', /no such date or time/],
  ['2100-02-29T10:00:00', /no such date or time/],
  ['2026-04-31T10:00:00', /no such date or time/],
  ['2026-00-10T10:00:00', /no such date or time/],
  ['2026-13-10T10:00:00', /no such date or time/],
  [' 2026-03-02T10:00:00', /not a wall-clock time/],
  ['2026-03-02T10:00:00\n', /not a wall-clock time/],
  ['٢٠٢٦-03-02T10:00:00', /not a wall-clock time/],
  ['1772355600', /not a wall-clock time/],
  ['now', /not a wall-clock time/],
  ['', /not a wall-clock time/],
];

test('only wall-clock times are accepted on create and update, for start and end', async () => {
  const { id } = await acme.freeze();
  const written = await acme.watchWrites();
  for (const [text, says] of notTimes) {
    for (const field of ['start', 'end'] as const) {
      for (const answer of [
        await create({ start: freezeBody.start, timezone: 'Europe/Paris', [field]: text }),
        await update(id, { [field]: text }),
      ]) {
        expect(answer.status, `${field} ${text}`).toBe(422);
        const [{ loc, msg }] = answer.body.detail;
        expect(loc).toEqual(['body', field]);
        expect(msg, text).toMatch(says);
        expect(msg).toMatch(/such as 2026-03-01T10:00:00, with the zone in `timezone`/);
      }
    }
  }
  expect(await written()).toEqual([]);
});

const anyZone = 'Send an IANA name such as Europe/Paris, America/New_York or UTC.';

test.each([
  ['Europe/Atlantis', anyZone],
  ['Paris', 'Did you mean Europe/Paris?'],
  ['', anyZone],
  [' UTC', 'Did you mean UTC or Etc/UTC?'],
  ['+01:00', anyZone],
  ['-0800', anyZone],
  ['+00', anyZone],
  ['UTC+1', anyZone],
  ['GMT+1', anyZone],
  ['Europe/Paris ', 'Did you mean Europe/Paris?'],
  ['Europe/../Paris', anyZone],
  ['Local', anyZone],
  ['x'.repeat(10_000), anyZone],
])('%j is not a time zone', async (timezone, says) => {
  const { id } = await acme.freeze();
  for (const answer of [
    await create({ start: freezeBody.start, timezone }),
    await update(id, { timezone }),
  ]) {
    expect(answer.status).toBe(422);
    const [{ loc, msg }] = answer.body.detail;
    expect(loc).toEqual(['body', 'timezone']);
    expect(msg).toBe(`This is not a time zone. ${says}`);
  }
});

// The sent text, the returned text (null: the same), and the instants that it names.
type Window = [why: string, sent: Times, back: Times | null, starts: string, ends: string | null];
const windows: Window[] = [
  [
    'winter in Paris',
    { start: '2026-03-01T11:00:00', end: '2026-03-01T12:00:00', timezone: 'Europe/Paris' },
    null,
    '2026-03-01T10:00:00.000Z',
    '2026-03-01T11:00:00.000Z',
  ],
  [
    'a link instead of a zone',
    { start: '2026-07-01T00:00:00', end: null, timezone: 'US/Eastern' },
    null,
    '2026-07-01T04:00:00.000Z',
    null,
  ],
  [
    'UTC',
    { start: '2026-03-01T11:00:00', end: null, timezone: 'UTC' },
    null,
    '2026-03-01T11:00:00.000Z',
    null,
  ],
  [
    'a zone 14 hours ahead and one 45 minutes off',
    { start: '2026-03-01T11:00:00', end: '2026-03-03T12:00:00', timezone: 'Pacific/Chatham' },
    null,
    '2026-02-28T21:15:00.000Z',
    '2026-03-02T22:15:00.000Z',
  ],
  [
    'seconds absent',
    { start: '2026-03-02T11:00', end: '2026-03-02T12:00', timezone: 'UTC' },
    { start: '2026-03-02T11:00:00', end: '2026-03-02T12:00:00' },
    '2026-03-02T11:00:00.000Z',
    '2026-03-02T12:00:00.000Z',
  ],
  [
    'fractions',
    { start: '2026-03-02T11:00:00.5', end: '2026-03-02T11:00:00.123456789', timezone: 'UTC' },
    { start: 'refused' },
    '',
    null,
  ],
  [
    'fractions in order',
    { start: '2026-03-02T11:00:00.123456789', end: '2026-03-02T11:00:00.5', timezone: 'UTC' },
    null,
    '2026-03-02T11:00:00.123Z',
    '2026-03-02T11:00:00.500Z',
  ],
  [
    'a leap day',
    { start: '2028-02-29T10:00:00', end: '2400-02-29T10:00:00', timezone: 'UTC' },
    null,
    '2028-02-29T10:00:00.000Z',
    '2400-02-29T10:00:00.000Z',
  ],
  [
    'a start in the skipped hour begins when the hour is over',
    { start: '2026-03-29T02:30:00', end: null, timezone: 'Europe/Paris' },
    null,
    '2026-03-29T01:00:00.000Z',
    null,
  ],
  [
    'an end in the skipped hour moves past it',
    { start: '2026-03-28T02:30:00', end: '2026-03-29T02:30:00', timezone: 'Europe/Paris' },
    null,
    '2026-03-28T01:30:00.000Z',
    '2026-03-29T01:30:00.000Z',
  ],
  [
    'both in the skipped hour',
    { start: '2026-03-29T02:15:00', end: '2026-03-29T02:45:00', timezone: 'Europe/Paris' },
    null,
    '2026-03-29T01:00:00.000Z',
    '2026-03-29T01:45:00.000Z',
  ],
  [
    'of a repeated hour a start takes the first, an end the second',
    { start: '2026-10-25T02:30:00', end: '2026-10-25T02:30:00', timezone: 'Europe/Paris' },
    null,
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ],
  [
    'a day that a zone skipped whole',
    { start: '2011-12-30T12:00:00', end: null, timezone: 'Pacific/Apia' },
    null,
    '2011-12-30T10:00:00.000Z',
    null,
  ],
  [
    'a jump of half an hour',
    { start: '2026-10-04T02:15:00', end: null, timezone: 'Australia/Lord_Howe' },
    null,
    '2026-10-03T15:30:00.000Z',
    null,
  ],
];

test.each(windows)('%s', async (_why, sent, back, starts, ends) => {
  const answer = await create(sent);
  if (back?.start === 'refused') {
    expect(answer.status).toBe(422);
    return;
  }
  expect(answer.status, answer.text).toBe(201);
  expect(answer.body).toMatchObject({ ...sent, ...back });
  expect(await instants(answer.body.id)).toEqual([starts, ends]);
  const { body } = await acme.call('GET', path, { as: acme.keys.admin });
  expect(body.scheduled_freezes).toContainEqual(answer.body);
});

test.each(['UTC', 'Pacific/Kiritimati', 'Pacific/Niue', 'America/New_York'])(
  'the ends of the calendar come back as they were sent (%s)',
  async (timezone) => {
    const sent = { start: '0001-01-01T00:00:00', end: '9999-12-31T23:59:59', timezone };
    const answer = await create(sent);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toMatchObject(sent);
    const { id } = answer.body;
    expect((await update(id, { reason: 'y' })).body).toEqual({ ...answer.body, reason: 'y' });
    expect((await update(id, { start: sent.start, end: sent.end })).status).toBe(200);
    await acme.quiet();
    expect((await create({ ...sent, start: sent.end, end: null })).status).toBe(201);
    expect((await create({ ...sent, end: sent.start })).status).toBe(422);
  },
);

test.each([
  ['UTC', '2026-03-01T09:00:00'],
  ['Europe/Paris', '2026-03-01T10:00:00'],
  ['Asia/Kathmandu', '2026-03-01T14:45:00'],
  ['America/Los_Angeles', '2026-03-01T01:00:00'],
])('a null start is now, on the wall clock of %s', async (timezone, start) => {
  const { status, body } = await create({ start: null, timezone });
  expect(status).toBe(201);
  expect(body).toMatchObject({ start, end: null, timezone });
  expect(await instants(body.id)).toEqual(['2026-03-01T09:00:00.000Z', null]);
  // The returned text can be sent again: it is the same instant.
  expect((await update(body.id, body)).status).toBe(200);
});

describe('ends', () => {
  const timezone = 'Europe/Paris';
  test.each([
    ['at the start', '2026-03-02T10:00:00', '2026-03-02T10:00:00', /after the start/],
    ['before the start', '2026-03-02T10:00:00', '2026-03-02T09:59:59', /after the start/],
    ['now', '2026-02-01T10:00:00', '2026-03-01T10:00:00', /has passed/],
    ['in the past', '2026-02-01T10:00:00', '2026-02-02T10:00:00', /has passed/],
    ['before a start that is now', null, '2026-02-02T10:00:00', /has passed/],
  ])('%s: refused', async (_when, start, end, says) => {
    const { status, body } = await create({ start, end, timezone });
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([{ loc: ['body', 'end'] }]);
    expect(body.detail[0].msg).toMatch(says);
  });

  test('a second ahead is enough, also for a freeze that began long ago', async () => {
    const answer = await create({ start: '2020-01-01T00:00:00', end: '2026-03-01T10:00:01', timezone });
    expect(answer.status).toBe(201);
  });
});
