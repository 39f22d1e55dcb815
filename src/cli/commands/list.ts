import { cutCharacters } from '../../cut-text.ts';
import { whatIsBlocked } from '../../words/describe-fields.ts';
import { command } from '../command.ts';
import {
  byOccurrence,
  inEach,
  isOngoingItem,
  type ListedFreeze,
  fetchFreezes,
  ownPlace,
} from '../freezing/items.ts';
import type { Schemas } from '../service/service.ts';
import { misused } from '../stop.ts';
import { nameOfTarget, readPlace } from '../target.ts';
import { type Cell, onOneLine } from '../terminal.ts';

export const listCommand = command<{ each?: true }, [target: string]>({
  usage: 'list <target>',
  summary: 'list the ongoing and scheduled freezes of a repository or an owner, with their IDs',
  options: [['--each', 'show each freeze of a plan, instead of one line']],
  examples: [
    ['holdfast list acme', 'See what is frozen, and what comes next'],
    ["holdfast list acme/web --json | jq -r '.freezes[].freeze.id'", 'Print the IDs in a repository'],
  ],
  async run({ connect, output, world }, { each }, target) {
    const place = readPlace(target);
    const { service, memory } = await connect();
    const freezes = await fetchFreezes(service, place);
    memory.save(
      freezes.flatMap(({ owner, repository, freeze }) => [
        { kind: 'freeze' as const, id: freeze.id, owner, repository },
        ...(freeze.plan_id === undefined
          ? []
          : [{ kind: 'plan' as const, id: freeze.plan_id, owner, repository: null }]),
      ]),
    );
    const now = world.now();
    const rows = each || place.repository !== null ? freezes.map((each) => [each]) : byOccurrence(freezes);
    const { describeInstant } = await import('../../time/local-time.ts');
    const shown = (at: number, zone: string) => describeInstant(new Date(at), zone);
    const blocked = rows.map(([first]) => whatIsBlocked(first!.freeze));
    const isSpecial = blocked.some((sentence) => sentence !== null);
    output.table(
      ['STATE', 'WHERE', 'FROM', 'UNTIL', 'REASON', ...(isSpecial ? ['BLOCKS'] : []), 'ID'],
      rows.map((same, index): Cell[] => {
        const [first] = same as [ListedFreeze];
        const { owner, repository, freeze, startsAt, endsAt } = first;
        const isPlan = same.length > 1;
        return [
          isOngoingItem(first, now) ? { text: 'on', tone: 'held' } : { text: 'scheduled', tone: 'scheduled' },
          isPlan ? `${owner} (${same.length})` : nameOfTarget({ owner, repository }),
          shown(startsAt, freeze.timezone),
          endsAt === null ? 'removed' : shown(endsAt, freeze.timezone),
          freeze.reason,
          ...(isSpecial ? [blocked[index] ?? 'Merges are blocked.'] : []),
          isPlan ? freeze.plan_id! : freeze.id,
        ];
      }),
    );
    if (freezes.length === 0) output.line(`No freeze is active or scheduled in ${target}.`);
    output.json({
      freezes: freezes.map(({ owner, repository, freeze, startsAt, endsAt }) => ({
        repository: nameOfTarget({ owner, repository }),
        state: startsAt <= now ? 'on' : 'scheduled',
        starts_at: new Date(startsAt).toISOString(),
        ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
        freeze,
      })),
    });
  },
});

/** How many columns stand before the days. With 31 days, a line has 80. */
const labelWidth = 48;

export const deploymentsCommand = command<{ state?: string }, [target: string]>({
  usage: 'deployments <target>',
  summary: 'list the deployments that wait for a freeze to end',
  options: [['--state <state>', 'waiting, approved, rejected, superseded, bypassed, gone or all (waiting)']],
  examples: [
    ['holdfast deployments acme/web', 'See which deployments wait, and the IDs of their runs'],
    ['holdfast deployments acme --state bypassed', 'See what was deployed past a freeze'],
  ],
  async run({ connect, output, world }, { state = 'waiting' }, target) {
    const place = readPlace(target);
    const { service } = await connect();
    const query = { per_page: '100', ...(state !== 'all' && { state }) };
    const found = await inEach(service, place, async (repository) => {
      const all: { repository: string; deployment: Schemas['Deployment'] }[] = [];
      for await (const page of service.pages('/repos/{owner}/{repository}/deployments', repository, query))
        all.push(
          ...page.deployments.map((deployment) => ({ repository: nameOfTarget(repository), deployment })),
        );
      return all;
    });
    const { describeInstant } = await import('../../time/local-time.ts');
    output.table(
      ['REPOSITORY', 'ENVIRONMENT', 'STATE', 'SINCE', 'WORKFLOW', 'COMMIT', 'RUN'],
      found.map(({ repository, deployment: each }) => [
        ...[
          repository,
          each.environment,
          each.state,
          describeInstant(new Date(each.requested_at), world.zone),
        ],
        ...[each.workflow, each.sha.slice(0, 7), String(each.run_id)],
      ]),
    );
    if (found.length === 0)
      output.line(state === 'waiting' ? `No deployment waits in ${target}.` : `There are none in ${target}.`);
    output.json({ deployments: found });
  },
});

export const calendar = command<{ month?: string }, [target: string | undefined]>({
  usage: 'calendar [target]',
  summary: 'show the ongoing and scheduled freezes of a month, with a row for each and its days',
  options: [['--month <month>', 'the month: 2026-12 (the present one)']],
  examples: [
    ['holdfast calendar acme', 'See what is frozen this month'],
    ['holdfast calendar acme/web --month 2026-12', 'See the freezes of a repository in December'],
  ],
  notes:
    'Days are those of your time zone. What a plan does in several repositories is one row. Freezes that are over are not\nlisted: the calendar in the browser has them, and what plans do later than 35 days from now.',
  async run({ connect, output, world }, { month: text }, target) {
    const { Temporal } = await import('temporal-polyfill');
    const now = world.now();
    const dayOf = (at: number) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(world.zone).toPlainDate();
    const today = dayOf(now);
    if (text !== undefined && !/^\d{4}-(0[1-9]|1[0-2])$/.test(text))
      throw misused(`"${text}" is not a month. Write one such as 2026-12.`);
    const first = Temporal.PlainDate.from(`${text ?? today.toString().slice(0, 7)}-01`);
    const days = Array.from({ length: first.daysInMonth }, (_, index) => first.add({ days: index }));
    const { service } = await connect();
    const place = await ownPlace(service, target);
    /** The days of the month on which it is on. What ends at midnight does not touch the next day. */
    const daysOf = ({ startsAt, endsAt }: ListedFreeze): string[] => {
      const from = dayOf(startsAt).toString();
      const to = endsAt === null ? null : dayOf(Math.max(startsAt, endsAt - 1)).toString();
      return days.map(String).filter((day) => day >= from && (to === null || day <= to));
    };
    const rows = byOccurrence(await fetchFreezes(service, place))
      .map((same) => ({ same, its: daysOf(same[0]!) }))
      .filter(({ its }) => its.length > 0);
    const line = (label: string, marks: string) => `${fit(label)} ${marks}`;
    output.line(`${first.toLocaleString('en-GB', { month: 'long', year: 'numeric' })}, ${world.zone}`);
    output.line(line('', days.map(({ day }) => (day < 10 ? ' ' : String(Math.floor(day / 10)))).join('')));
    output.line(line('', days.map(({ day }) => String(day % 10)).join('')));
    output.line(
      line('', days.map((day) => (day.equals(today) ? '^' : 'MTWTFSS'[day.dayOfWeek - 1])).join('')),
    );
    for (const { same, its } of rows) {
      const [one] = same as [ListedFreeze];
      const where = same.length > 1 ? `${one.owner} (${same.length})` : nameOfTarget(one);
      const marks = days.map((day) => (its.includes(day.toString()) ? '#' : day.dayOfWeek > 5 ? ' ' : '.'));
      output.line(`${fit(`${where}: ${onOneLine(one.freeze.reason)}`)} `, {
        text: marks.join(''),
        tone: isOngoingItem(one, now) ? 'held' : 'scheduled',
      });
    }
    if (rows.length === 0)
      output.line(`No ongoing or scheduled freeze of ${nameOfTarget(place)} is in this month.`);
    output.json({
      month: first.toString().slice(0, 7),
      time_zone: world.zone,
      freezes: rows.map(({ same, its }) => ({
        repositories: same.map(nameOfTarget),
        days: its,
        freeze: same[0]!.freeze,
      })),
    });
  },
});

/** The text in as many columns as stand before the days. */
const fit = (text: string): string => cutCharacters(text, labelWidth).padEnd(labelWidth);
