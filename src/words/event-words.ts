// `words/` has the words for people about events and freezes, for pages, chats, the log and the command line. It is
// pure.
import { type Actor, actorName, type Trigger } from '../events/actor.ts';
import type { Via } from '../events/audit-event.ts';
import { type DescribedEvent, describeEvent } from './describe-event.ts';
import { cutCharacters } from '../cut-text.ts';

/** An event as the API answers. */
export type LoggedEvent = {
  id: number;
  received_at: string;
  trigger: string;
  repository: string | null;
  pull_request: number | null;
  type: string;
  outcome: string;
  metadata: Record<string, unknown>;
  /** The person who created the key, the rule or the plan that acted, and that plan. */
  on_behalf_of?: { name: string };
  freeze_plan?: { id: string; name?: string };
};

/** `ada`, `the application key release tooling of ada`, or `Holdfast, for the plan Year end of ada`. */
export function whoActed(
  actor: Actor | null,
  { on_behalf_of: person, freeze_plan: plan }: Pick<LoggedEvent, 'on_behalf_of' | 'freeze_plan'>,
): string {
  if (!actor) return 'Somebody';
  const ofPlan = plan?.name === undefined ? ', for a plan' : `, for the plan ${plan.name}`;
  const name = actorName(actor) + (plan ? ofPlan : '');
  return person && actor.type !== 'user' ? `${name} of ${person.name}` : name;
}

/** What people choose an event by, of how it came about. */
export const roadNames: Record<Trigger, string> = {
  api: 'API',
  page: 'Page',
  comment: 'Comment',
  slack: 'Slack',
  plan: 'Plan',
  clock: 'Clock',
  github: 'GitHub',
};

/** By which road: `Page`, or `Slack app of the owner, workspace T024BE7LH`. What a newer version wrote stays as it is. */
export function roadOfEvent({ trigger, metadata }: Pick<LoggedEvent, 'trigger' | 'metadata'>): string {
  // Metadata of another shape than ours has none.
  const via = (metadata as Via | null)?.via;
  if (via)
    return `${via.slack_app === 'owner' ? 'Slack app of the owner' : 'Slack'}, workspace ${via.slack_team_id}`;
  return Object.hasOwn(roadNames, trigger) ? roadNames[trigger as Trigger] : trigger;
}

/** `ada (Page)`: who acted, and by which road if that was not the API. The others act by one road only. */
export function whoAndHow(actor: Actor | null, event: LoggedEvent): string {
  const isTold = ['page', 'comment', 'slack'].includes(event.trigger);
  return whoActed(actor, event) + (isTold ? ` (${roadOfEvent(event)})` : '');
}

/** What changed, in one line: `End: 2026-11-27T18:00:00 → 2026-11-28T08:00:00`. @param timeText how to write a time. */
export const whatChanged = (
  { details }: Pick<DescribedEvent, 'details'>,
  timeText: (time: string) => string = (time) => time,
): string =>
  details
    .map(({ name, before, text, isTime }) => {
      const shown = (value: string) => (isTime ? timeText(value) : value);
      return `${name}: ${before === undefined ? '' : `${shown(before)} → `}${shown(text)}`;
    })
    .join('; ');

const columns: Record<string, (event: LoggedEvent, described: DescribedEvent) => string> = {
  id: ({ id }) => String(id),
  received_at: ({ received_at }) => received_at,
  actor: (_, { actor }) => actor?.name ?? '',
  on_behalf_of: ({ on_behalf_of }) => on_behalf_of?.name ?? '',
  repository: ({ repository }) => repository ?? '',
  pull_request: ({ pull_request }) => pull_request?.toFixed() ?? '',
  type: ({ type }) => type,
  outcome: ({ outcome }) => outcome,
  event: (event, described) => `${whoAndHow(described.actor, event)} ${described.did}`,
  about: (_, { subject }) => subject?.name ?? '',
  about_id: (_, { subject }) => subject?.id ?? '',
  changes: (_, described) => whatChanged(described),
  trigger: ({ trigger }) => trigger,
};

/** The names of the columns of `csvRow`. */
export const csvHeader = (): string => csvLine(Object.keys(columns));

/** An event as a line of CSV (RFC 4180). */
export function csvRow(event: LoggedEvent): string {
  const described = describeEvent(event);
  return csvLine(Object.values(columns).map((textOf) => textOf(event, described)));
}

/** A line of CSV. A text that a spreadsheet would take for a formula begins with an apostrophe. */
export const csvLine = (cells: string[]): string =>
  `${cells.map((text) => quotedWord(/^[\s]*[=+\-@\t\r]/.test(text) ? `'${text}` : text)).join(',')}\r\n`;

const quotedWord = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** The text in one line of at most `most` characters. */
export const shorten = (text: string, most: number): string =>
  cutCharacters(text.replace(/\s+/g, ' ').trim(), most);

/** A text that people wrote, in one line, without characters that reorder the text around them, or that no font shows. */
export const plainText = (text: string, most: number): string =>
  shorten(
    text
      .toWellFormed()
      .replace(/\p{Bidi_Control}/gu, '')
      .replace(/[\p{Cc}\u2028\u2029]+/gu, ' '),
    most,
  );

/** `web, api and 3 more` */
export const listedWords = (names: string[], most: number): string =>
  names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');
