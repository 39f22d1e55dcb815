import { type Call, command } from '../command.ts';
import type { Schemas, Service } from '../service/service.ts';
import { isPassing, misused } from '../stop.ts';
import { type OwnerOrRepository, readPlace } from '../target.ts';
import { onOneLine } from '../terminal.ts';

type Options = { since?: string; type?: string[]; pullRequest?: string; limit?: string; follow?: true };
type Event = Schemas['Event'] | Schemas['OwnerEvent'];

/** Milliseconds between two requests. */
const pause = 2000;

export const logs = command<Options, [target: string]>({
  usage: 'logs <target>',
  summary: 'read the audit log of a repository, or of an owner: who changed what',
  options: [
    ['--since <length>', 'how far to go back: 2h, 30d (1d)'],
    ['--type <type>', 'only events of this type, such as freeze.bypassed; repeat for more', 'many'],
    ['--pull-request <number>', 'only events of this pull request'],
    ['--limit <count>', 'the number of latest events (100)'],
    ['--follow', 'continue with new events'],
  ],
  examples: [
    ['holdfast logs acme/web --since 7d', 'Read the last week of a repository'],
    [
      'holdfast logs acme/web --follow --type freeze.bypassed --json',
      'Print a line of JSON for each merge past a freeze',
    ],
    ['holdfast logs acme', 'Read the events about keys, default products and plans of an owner'],
  ],
  async run(call, options, target) {
    const place = readPlace(target);
    const { readMilliseconds } = await import('../times.ts');
    const back = readMilliseconds(options.since ?? '1d');
    const limit = Number(options.limit ?? 100);
    if (!Number.isInteger(limit) || limit < 1) throw misused('--limit must be a whole number of at least 1.');
    const { service } = await call.connect();
    const from = new Date(call.world.now() - back).toISOString();
    const pages = (most: number) =>
      pagesOf(service, place, {
        event_type: options.type,
        pull_request: options.pullRequest,
        received_from: from,
        per_page: String(Math.min(100, most)),
      });
    let latest = 0;
    const show = (events: Event[]) => {
      for (const event of events.toReversed()) say(call, event);
      latest = Math.max(latest, ...events.map(({ id }) => id));
    };
    show(await newerThan(pages(limit), latest, limit));
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

const pagesOf = (
  service: Service,
  { owner, repository }: OwnerOrRepository,
  query: Record<string, string | string[] | undefined>,
): AsyncGenerator<{ events: Event[] }> =>
  repository === null
    ? service.pages('/logs/{owner}', { owner }, query)
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

/** Prints each event on a line as it comes. Columns would have to wait for the last event. */
function say({ output }: Call, event: Event): void {
  const { received_at, type, repository, pull_request, metadata, outcome } = event;
  const place = pull_request === null ? (repository ?? '') : `${repository ?? ''}#${pull_request}`;
  const what = { text: type, tone: outcome === 'failure' ? 'wrong' : 'quiet' } as const;
  output.line(
    `${received_at}  `,
    what,
    ...[place, whoIn(metadata)].filter(Boolean).map((text) => `  ${text}`),
  );
  output.json(event);
}

/** Who did it, from a field such as `created_by`. */
function whoIn(metadata: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(metadata)) {
    const who = (value as { name?: unknown } | null)?.name;
    if (name.endsWith('_by') && typeof who === 'string') return `by ${onOneLine(who)}`;
  }
  return '';
}
