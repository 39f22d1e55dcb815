import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CalendarFile, startCalendarFile } from '../../sandbox/calendar-file.ts';
import { acmeForAll, freezeBody, planBody } from '../api/acme.ts';
import { startCommenting } from '../support/comments.ts';
import { forAll } from '../support/for-all.ts';
import { loopDelayOf } from '../support/loop-delay.ts';
import { Visitor } from '../support/visitor.ts';

// One request of a stranger may take its time, but it does not take the process: webhooks and statuses go on.

/** Milliseconds. */
const most = 100;
/** A busy machine makes anything late once. What a request does itself, it does each time. */
const tries = 5;

const acme = acmeForAll();
let calendar: CalendarFile;
let large: number;
beforeAll(async () => {
  calendar = await startCalendarFile();
  const files = many(2990, (at) => `src/${at % 40}/some-folder/page-${at}.${at % 9 === 0 ? 'md' : 'ts'}`);
  const body = many(1700, (at) => `Line ${at} about a change, and more\n`)
    .join('')
    .slice(0, 65_000);
  large = acme.github.openPullRequest('acme/web', { author: 'eve', fork: true, files, body }).number;
  await acme.quiet();
});
afterAll(() => calendar.close());

const many = (count: number, of: (at: number) => string): string[] =>
  Array.from({ length: count }, (_, at) => of(at));
const numbers = (count: number) => many(count, (at) => String(at + 1)).join(',');

const conditions: [string, (again: number) => unknown[]][] = [
  ['repetitions', (again) => many(500, () => 'title~=a{1000}' + String(again))],
  ['nested repetitions', (again) => many(500, () => 'title~=((a{9}){9}){9}' + String(again))],
  ['alternatives', (again) => many(50, () => `title~=${'(a|bc)*d{0,3}'.repeat(70)}` + String(again))],
  ['Unicode classes', (again) => many(500, () => String.raw`title~=(?i)[^\pL]\pN{30}x` + String(again))],
  ['globs', (again) => many(50, () => `files*=${'{a,b}'.repeat(7)}*${'x*y'.repeat(200)}` + String(again))],
  [
    'teams and schedules',
    (again) => [`title=${again}`, ...many(499, () => 'schedule=Mon-Fri 22:00-06:00[America/New_York]')],
  ],
  ['unknown names', (again) => many(500, (at) => `review-by-teams-${again}-${at}=x`)],
  [
    'unknown names in groups',
    (again) =>
      many(4, () => '').map((_, group) => ({ or: many(499, (at) => `labels-of-${group}-${again}-${at}=x`) })),
  ],
  ['wide ranges without case', (again) => many(500, (at) => `title~=(?i)[a-\uffff][b-\uffff]${again}-${at}`)],
  ['globs of many files', (again) => [{ or: many(499, (at) => `files*=**/x${at}/*-${again}-?.ts`) }]],
  ['excluding globs of many files', (again) => many(500, (at) => `-files*=**/x${at}/*-${again}-?.ts`)],
  ['short globs of many files', (again) => [{ or: many(499, (at) => `files*=x${at}-${again}/**`) }]],
  [
    'expressions over many files',
    (again) => [{ or: many(499, (at) => String.raw`files~=x${at}\w*-${again}\.[jt]s$`) }],
  ],
  ['names of many files', (again) => [{ or: many(499, (at) => `files=src/x-${at}-${again}`) }]],
  ['orderings of many files', (again) => [{ or: many(499, (at) => `files<a-${at}-${again}`) }]],
  [
    'expressions with the author',
    (again) => [{ or: many(100, (at) => `files~=^{{author}}/x${at}\\w-${again}`) }],
  ],
  [
    'expressions over a long description',
    (again) => [{ or: many(200, (at) => String.raw`body~=x${at}\w*-${again}\s[a-d]+`) }],
  ],
  [
    'a large expression over a long description',
    (again) => [String.raw`body~=(?:\w+\W+){` + `${600 + again}}[A-K]`],
  ],
  ['groups', (again) => many(4, () => '').map(() => ({ or: many(499, (at) => `label=${at} ${again}`) }))],
];
const rules: [string, string][] = [
  ['that never yields', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30'],
  ['that seldom yields', 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=1000'],
  [
    'with many days',
    `FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYMONTHDAY=${numbers(31)};BYSETPOS=${numbers(200)}`,
  ],
  ['with many places', `FREQ=MONTHLY;BYSETPOS=-1;BYDAY=${many(80, () => '-5MO,5SU').join(',')}`],
  ['far apart', 'FREQ=DAILY;INTERVAL=9999;BYMONTHDAY=31'],
];
const globs = ['{a,b}'.repeat(7) + '*'.repeat(20), '*a'.repeat(45), '[a-z]*'.repeat(16), '{'.repeat(90)];
const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');
const start = ['DTSTART:20261224T100000Z', 'DURATION:PT1H'];
const calendars: [string, string[]][] = [
  [
    'of each second of a year',
    [
      event(
        ...start,
        `RRULE:FREQ=YEARLY;BYMONTH=${numbers(12)};BYMONTHDAY=${numbers(31)};BYHOUR=${numbers(23)};BYMINUTE=${numbers(59)};BYSECOND=${numbers(59)}`,
      ),
    ],
  ],
  [
    'of unknown zones',
    many(20_000, (at) => event(`UID:${at}`, `DTSTART;TZID=Z${at}:20261224T100000`, 'DURATION:PT1H')),
  ],
  ['of dates', [event(...start, `RDATE:${many(200_000, () => '20261224T100000Z').join(',')}`)]],
  [
    'of rules in vain',
    many(4000, (at) =>
      event(`UID:${at}`, 'DTSTART:00010101', 'RRULE:FREQ=DAILY;COUNT=999999;BYMONTH=2;BYMONTHDAY=30'),
    ),
  ],
  ['of zones', many(4000, (at) => `BEGIN:VTIMEZONE\r\nTZID:Z${at}\r\nEND:VTIMEZONE`)],
  ['of folds', [`X:${'a\r\n '.repeat(1_000_000)}`]],
];

/** @param again another one each time, because what was read once is remembered. */
type Body = (again: number) => unknown;
const requests: [string, string, Body][] = [
  ...conditions.map(([name, of]): [string, string, Body] => [
    `conditions: ${name}`,
    '/v1/repos/acme/web/scheduled_freeze/preview',
    (again) => ({ ...freezeBody, matching_conditions: of(again) }),
  ]),
  ...rules.map(([name, rule]): [string, string, Body] => [
    `a rule ${name}`,
    '/v1/freeze_plans/acme/preview',
    () => ({
      ...planBody,
      recurrence: { rule, except: many(100, (at) => `20${30 + (at % 40)}-02-${10 + (at % 15)}`) },
    }),
  ]),
  ...globs.map((glob): [string, string, Body] => [
    `globs such as ${glob.slice(0, 12)}`,
    '/v1/freeze_plans/acme/preview',
    () => ({ ...planBody, repositories: { include: many(50, (at) => glob.slice(0, 95) + String(at)) } }),
  ]),
  ...calendars.map(([name, lines]): [string, string, Body] => [
    `a calendar ${name}`,
    '/v1/freeze_plans/acme/preview',
    () => {
      calendar.say(['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR', ''].join('\r\n'));
      const { start: _start, end: _end, recurrence: _rule, ...plan } = planBody;
      return { ...plan, source: { url: calendar.url } };
    },
  ]),
];

/** Tries something until it keeps the loop no longer than it may. @returns how long it kept it at least, in milliseconds. */
async function leastDelayOf(attempt: (again: number) => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let again = 0; again < tries && least > most; again++) {
    const [delay] = await loopDelayOf(() => attempt(again));
    least = Math.min(least, delay);
  }
  return least;
}

test.each(requests)(
  '%s',
  async (_, path, body) => {
    const delay = await leastDelayOf(async (again) => {
      const { status } = await acme.ask('POST', path, { as: acme.keys.admin, body: body(again) });
      expect([200, 400, 422]).toContain(status);
    });
    expect(delay).toBeLessThanOrEqual(most);
  },
  60_000,
);

test('a freeze with many globs begins, is explained and ends', async () => {
  const globs = (again: number) => many(499, (at) => `files*=**/x${at}/*-${again}-?.ts`);
  const path = '/v1/repos/acme/web';
  const delay = await leastDelayOf(async (again) => {
    const now = new Date(acme.clock.now()).toISOString().slice(0, 19);
    const { id } = await acme.freeze({
      start: now,
      end: null,
      timezone: 'UTC',
      matching_conditions: [{ or: ['title~=^x', ...globs(again)] }],
      exclude_conditions: [{ or: globs(again + tries) }],
    });
    await acme.quiet();
    const explained = await acme.ask('GET', `${path}/pulls/${large}/freezes`, { as: acme.keys.admin });
    expect(explained.status).toBe(200);
    const body = { delete_reason: 'Done' };
    await acme.ask('POST', `${path}/scheduled_freeze/${id}/delete`, { as: acme.keys.admin, body });
    await acme.quiet();
  });
  expect(delay).toBeLessThanOrEqual(most);
}, 60_000);

describe('Markdown that somebody writes', () => {
  /** GitHub's longest comment or description. */
  const longest = 65_536;
  const texts: [string, string][] = [
    ['quotes', '> '],
    ['stars', '*'],
    ['stars and words', '**a *b '],
    ['open brackets', '['],
    ['links', '[a]('],
    ['nested links', '[![a](b)](c '],
    ['backticks', '`'],
    ['runs of backticks', '`` ` ``` '],
    ['angles', '<'],
    ['comments left open', '<!-- '],
    ['comments', '<!---->'],
    ['tags', '<a href="'],
    ['tables', '|a|-'],
    ['rows', '|-\n'],
    ['lists', '  - 1. '],
    ['entities', '&amp;&#'],
    ['mentions', '@a/b #1 '],
    ['dependencies', 'Depends-On: a/b#1 '],
    ['lines of dependencies', 'Depends-On: \t#\n'],
    ['spaces', ' '],
    ['tabs before an end', '\t\r'],
    ['marks of directions', '\u202e\u2066'],
    ['faces', '😀'],
    ['times', 'until 2h '],
    ['quotation marks', '"\'“'],
    ['one word', 'a'],
  ];
  const commenting = forAll(() => startCommenting({ publicUrl: 'https://holdfast.example' }));

  test.each(texts)('%s', async (_, part) => {
    const text = part.repeat(longest / part.length);
    const { github, quiet } = commenting;
    const repository = await commenting.repository(
      `text-${texts.findIndex(([, each]) => each === part)}`,
      [],
    );
    await commenting.freeze(repository, {
      // `{{ author }}` and every way to read a description.
      exclude_conditions: [
        String.raw`body~=(?m)^Depends-On: \S+#[0-9]+$`,
        'depends-on=acme/api#1',
        '#body<5',
      ],
    });
    const given = {
      author: 'eve',
      fork: true,
      title: text.slice(0, 256),
      body: `x${text}`.slice(0, longest),
    };
    const delay = await leastDelayOf(async () => {
      const { number } = github.openPullRequest(repository, given);
      for (const [by, command] of [
        ['wes', 'exempt'],
        ['ada', 'freeze 2h'],
        ['ada', 'freeze until'],
        ['ada', ''],
      ] as const)
        github.comment(repository, number, { by, body: `/holdfast ${command} ${text}`.slice(0, longest) });
      await quiet();
      const page = await new Visitor(commenting).open(`/repos/${repository}/pulls/${number}`);
      expect(page.status).toBe(200);
    });
    expect(delay).toBeLessThanOrEqual(most);
  });
});
