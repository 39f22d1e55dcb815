import type { Call } from '../call.ts';
import { command } from '../command.ts';
import type { AuditEvent } from '../service/shapes.ts';
import { type Service, v1 } from '../service/service.ts';
import { isPassing, misused } from '../stop.ts';
import { onOneLine } from '../terminal/printable.ts';
import { readPlace } from '../target.ts';

type Options = { since?: string; type?: string[]; pullRequest?: string; limit?: string; follow?: true };
type Page = { events: AuditEvent[] };
type Question = { path: string; query: Record<string, string | string[] | undefined> };

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
    const { owner, repository } = readPlace(target);
    const { readMilliseconds } = await import('../times/window.ts');
    const back = readMilliseconds(options.since ?? '1d');
    const limit = Number(options.limit ?? 100);
    if (!Number.isInteger(limit) || limit < 1) throw misused('--limit must be a whole number of at least 1.');
    const { service } = await call.connect();
    const from = call.world.now() - back;
    const question: Question = {
      path: repository === null ? v1('logs', owner) : v1('repos', owner, repository, 'logs'),
      query: { event_type: options.type, pull_request: options.pullRequest },
    };
    let latest = 0;
    const show = (events: AuditEvent[]) => {
      for (const event of events.toReversed()) say(call, event);
      latest = Math.max(latest, ...events.map(({ id }) => id));
    };
    show(await newerThan(service, question, { from, latest, limit }));
    for (let trouble = ''; options.follow;) {
      await call.world.delay(pause);
      try {
        show(await newerThan(service, question, { from, latest, limit: Infinity }));
        trouble = '';
      } catch (error) {
        // A restart of the service must not end the log.
        if (!isPassing(error)) throw error;
        if (error.message !== trouble) call.output.note(`${(trouble = error.message)} Trying again.`);
      }
    }
  },
});

/** The events after the latest known event, newest first. */
async function newerThan(
  service: Service,
  { path, query }: Question,
  { from, latest, limit }: { from: number; latest: number; limit: number },
): Promise<AuditEvent[]> {
  const found: AuditEvent[] = [];
  const asked = {
    ...query,
    received_from: new Date(from).toISOString(),
    per_page: String(Math.min(100, limit)),
  };
  for await (const { events } of service.pages<Page>(path, asked)) {
    const news = events.filter(({ id }) => id > latest);
    found.push(...news);
    if (news.length < events.length || found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Prints each event on a line as it comes. Columns would have to wait for the last event. */
function say({ output }: Call, event: AuditEvent): void {
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
