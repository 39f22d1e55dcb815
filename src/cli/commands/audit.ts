import { type CommandCall, command } from '../command.ts';
import { describeEvent } from '../../words/describe-event.ts';
import { triggers } from '../../events/actor.ts';
import { csvHeader, csvRow, type LoggedEvent, whatChanged, whoAndHow } from '../../words/event-words.ts';
import { ownPlace } from '../freezing/items.ts';
import type { Schemas, ServiceClient } from '../service/service.ts';
import { isPassing, misused } from '../stop.ts';
import type { OwnerOrRepository } from '../target.ts';
import { type Cell, jsonLine } from '../terminal.ts';

type Options = {
  since?: string;
  until?: string;
  by?: string;
  type?: string[];
  trigger?: string[];
  pullRequest?: string;
  limit?: string;
  follow?: true;
  format?: string;
};
type Event = Schemas['Event'] | Schemas['OwnerEvent'];

/** Milliseconds between two requests. */
const pause = 2000;

const formats = ['table', 'csv', 'jsonl'] as const;
type Format = (typeof formats)[number];
/** The number of events without `--limit`. */
const usualLimits: Record<Format, number> = { table: 100, csv: 10_000, jsonl: 10_000 };

export const audit = command<Options, [target: string | undefined]>({
  usage: 'audit [target]',
  alias: 'logs',
  summary: 'read the audit log of a repository or an owner: who did what',
  options: [
    ['--since <time>', 'how far to go back, or from when: 2h, 30d, 2026-11-20, 2026-11-20T18:00 (7d)'],
    ['--until <time>', 'until when, in the same forms (now)'],
    ['--by <name>', 'only what this person did, also through keys and plans; or the name of a key'],
    ['--type <type>', 'only events of this type, such as freeze.bypassed; repeat for more', 'many'],
    ['--trigger <road>', `only what came by this road: ${triggers.join(', ')}; repeat for more`, 'many'],
    ['--pull-request <number>', 'only events of this pull request'],
    ['--format <format>', 'table, csv or jsonl (table)'],
    ['--limit <count>', 'the number of latest events (100 in a table, else 10000)'],
    ['--follow', 'continue with new events'],
  ],
  examples: [
    ['holdfast audit acme', 'See who did what in the last week, in an owner and its repositories'],
    [
      'holdfast audit acme --since 30d --by ada --format csv > ada.csv',
      'Save what a person did, for a spreadsheet',
    ],
    [
      'holdfast audit acme/web --follow --type freeze.bypassed --json',
      'Print a line of JSON for each merge past a freeze',
    ],
  ],
  notes:
    'Without a target, this reads the log of the owner of the application key. An owner includes its repositories. The log\ngoes back 90 days. `holdfast logs` is another name of this command.',
  async run(call, options, target) {
    const format = call.output.isJson ? 'jsonl' : formatOf(options.format);
    const limit = Number(options.limit ?? usualLimits[format]);
    if (!Number.isInteger(limit) || limit < 1) throw misused('--limit must be a whole number of at least 1.');
    if (options.follow && options.until !== undefined)
      throw misused('--follow shows what comes. Leave out --until.');
    for (const trigger of options.trigger ?? [])
      if (!triggers.some((each) => each === trigger))
        throw misused(`"${trigger}" is not a road. Write ${triggers.join(', ')}.`);
    const { readPast } = await import('../times.ts');
    const [from, to] = [options.since ?? '7d', options.until].map((text) =>
      text === undefined ? undefined : new Date(readPast(text, call.world)).toISOString(),
    );
    const { service } = await call.connect();
    const place = await ownPlace(service, target);
    const pages = (most: number) =>
      pagesOf(service, place, {
        event_type: options.type,
        trigger: options.trigger,
        pull_request: options.pullRequest,
        by: options.by,
        received_from: from,
        received_to: to,
        per_page: String(Math.min(100, most)),
      });
    let latest = 0;
    const print = await printerOf(call, format);
    const show = (events: Event[]) => {
      print(events.toReversed());
      latest = Math.max(latest, ...events.map(({ id }) => id));
    };
    const first = await newerThan(pages(limit + 1), latest, limit + 1);
    show(first.slice(0, limit));
    if (first.length > limit && options.limit === undefined)
      call.output.note(`These are the latest ${limit} events. Use --limit or --until for the others.`);
    for (let trouble = ''; options.follow;) {
      await call.world.delay(pause);
      try {
        show(await newerThan(pages(Infinity), latest, Infinity));
        trouble = '';
      } catch (error) {
        // A restart of the service must not end the log.
        if (!isPassing(error)) throw error;
        if (error.message !== trouble) call.output.note(`${(trouble = error.message)} Trying again.`);
      }
    }
  },
});

function formatOf(text: string | undefined): Format {
  const format = formats.find((each) => each === (text ?? 'table'));
  if (!format) throw misused(`"${text}" is not a format. Write ${formats.join(', ')}.`);
  return format;
}

const pagesOf = (
  service: ServiceClient,
  { owner, repository }: OwnerOrRepository,
  query: Record<string, string | string[] | undefined>,
): AsyncGenerator<{ events: Event[] }> =>
  repository === null
    ? service.pages('/logs/{owner}', { owner }, { ...query, repositories: 'all' })
    : service.pages('/repos/{owner}/{repository}/logs', { owner, repository }, query);

/** The events after the latest known event, newest first. */
async function newerThan(pages: ReturnType<typeof pagesOf>, latest: number, limit: number): Promise<Event[]> {
  const found: Event[] = [];
  for await (const { events } of pages) {
    const news = events.filter(({ id }) => id > latest);
    found.push(...news);
    if (news.length < events.length || found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Prints events, each time as many as there are. */
async function printerOf({ world, output }: CommandCall, format: Format): Promise<(events: Event[]) => void> {
  const write = (text: string) => void world.out.write(text);
  if (format === 'jsonl') return (events) => events.forEach((event) => write(jsonLine(event)));
  if (format === 'csv') {
    write(csvHeader());
    return (events) => events.forEach((event) => write(csvRow(event)));
  }
  const { describeInstant } = await import('../../time/local-time.ts');
  let isFirst = true;
  return (events) => {
    const rows = events.map((event) => rowOf(event, (at) => describeInstant(at, world.zone)));
    // What comes later goes on below the table.
    if (isFirst) output.table(['WHEN', 'WHO', 'WHERE', 'WHAT'], rows);
    else
      for (const row of rows) output.line(...row.flatMap((cell, at) => (at === 0 ? [cell] : ['  ', cell])));
    isFirst &&= rows.length === 0;
  };
}

function rowOf(event: LoggedEvent, shown: (at: Date) => string): Cell[] {
  const described = describeEvent(event);
  const { actor, did, subject } = described;
  const { received_at, repository, pull_request, outcome } = event;
  const timeText = (time: string) =>
    time.endsWith('Z') ? shown(new Date(time)) : time.replace(/T(\d\d:\d\d):00$/, ' $1');
  const what = [did, subject?.name && `: ${subject.name}`].filter(Boolean).join('');
  const changes = whatChanged(described, timeText);
  return [
    shown(new Date(received_at)),
    whoAndHow(actor, event),
    pull_request === null ? (repository ?? '') : `${repository ?? ''}#${pull_request}`,
    { text: changes ? `${what}. ${changes}` : what, tone: outcome === 'failure' ? 'wrong' : 'quiet' },
  ];
}
