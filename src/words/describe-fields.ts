import type { ConditionInput } from '../conditions/ast.ts';
import { inOneLine } from '../conditions/sentence.ts';

/** `before` is the former text, if the event is a change. A time is in ISO 8601, without a zone if it is a wall-clock time. */
export type Detail = {
  name: string;
  before?: string;
  text: string;
  isTime?: boolean;
  /** The ids of the freezes that the text counts, and whether it is the id of a run: pages show their names. */
  freezes?: string[];
  isRun?: boolean;
};

/** The fields of freezes and plans, by their names in the API. */
const fieldNames: Record<string, string> = {
  name: 'Name',
  reason: 'Reason',
  public_reason: 'Public reason',
  repositories: 'Repositories',
  start: 'Start',
  end: 'End',
  timezone: 'Time zone',
  recurrence: 'Repeats',
  matching_conditions: 'Matching',
  exclude_conditions: 'Except',
  holds: 'Blocks',
  environments: 'Environments',
  on_deployment: 'Deployments',
};
const allFields = Object.keys(fieldNames);

/** Fields of settings, webhooks, calendars and rules whose names are no words of people. */
const otherNames: Record<string, string> = {
  url: 'Address',
  two_person_exemptions: 'Exemptions take two people',
  instant_hold: 'Instant hold',
  refs: 'Branches and tags',
};

/** What people call a field: `Comment commands` for `comment_commands`, if it has no other name. */
export const nameOfField = (field: string): string =>
  fieldNames[field] ?? otherNames[field] ?? capitalise(field.replaceAll('_', ' '));

const capitalise = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);

/** The fields of something, without those that say nothing. */
export function fieldChangesOf(attributes: object, fields = allFields): Detail[] {
  const values = attributes as Record<string, unknown>;
  return fields
    .filter((field) => values[field] !== undefined)
    .filter((field) => field !== 'exclude_conditions' || (values[field] as unknown[]).length > 0)
    .map((field) => detailOf(field, values[field]));
}

/** What differs, with the values before. */
export function changesInEvent(before: object, after: object, fields = allFields): Detail[] {
  const [one, other] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  return fields
    .map((field) => ({ ...detailOf(field, other[field]), before: fieldText(field, one[field]) }))
    .filter((change) => change.before !== change.text);
}

const detailOf = (field: string, value: unknown): Detail => ({
  name: nameOfField(field),
  text: fieldText(field, value),
  isTime: field === 'start' || field === 'end',
});

/** What a freeze or plan holds, by our names or those of the API. Lists that are empty or absent were never set. */
export type Holding = {
  holds?: readonly string[] | null;
  environments?: readonly string[] | null;
  onDeployment?: string | null;
  on_deployment?: string | null;
};

/** Whether it holds merges: also if that was never set. */
export const blocksMerges = ({ holds }: Holding): boolean => !holds?.length || holds.includes('merges');

/** What goes on after the end of freezes, by what they held together. */
export type Released = 'merges' | 'deployments' | 'both';

export function releasedBy(freezes: readonly Holding[]): Released {
  if (!freezes.some(({ holds }) => holds?.includes('deployments'))) return 'merges';
  return freezes.some(blocksMerges) ? 'both' : 'deployments';
}

/** What people can do then, in one sentence. */
export const whatGoesOn: Record<Released, string> = {
  merges: 'Pull requests that no other freeze blocks can merge within seconds.',
  deployments: 'Deployments that no other freeze blocks can go on within seconds.',
  both: 'Pull requests that no other freeze blocks can merge, and such deployments can go on, within seconds.',
};

/** How many environments or repositories a sentence names. */
const mostPlacesNamed = 5;

/** ` to production and live-*`; empty for all environments. */
export function toEnvironments(
  names: readonly string[] | null | undefined,
  show: (environment: string) => string = (environment) => environment,
): string {
  if (!names || names.length === 0 || names.includes('*')) return '';
  return ` to ${namesIn(names.map(show))}`;
}

/** `Deployments to production wait`, of something that holds deployments. */
export function whatDeploymentsDo(
  { environments, onDeployment, on_deployment }: Holding,
  show?: (environment: string) => string,
): string {
  const become = (onDeployment ?? on_deployment) === 'reject' ? 'are rejected' : 'wait';
  return `Deployments${toEnvironments(environments, show)} ${become}`;
}

/**
 * What a freeze blocks, in one sentence: `Merges are blocked; deployments to production wait.`
 * @param show how to write the name or pattern of an environment.
 * @returns null for a freeze of merges alone: that is what people expect.
 */
export function whatIsBlocked(holding: Holding, show?: (environment: string) => string): string | null {
  if (!holding.holds?.includes('deployments')) return null;
  const they = whatDeploymentsDo(holding, show);
  return holding.holds.includes('merges')
    ? `Merges are blocked; d${they.slice(1)}.`
    : `${they}; merges are not blocked.`;
}

/** What would be held in a place. @property toRefuse those that GitHub refuses; null if that is not known. */
export type ToHold = { name: string; toHold: number; toRefuse: number | null };

/**
 * How many pull requests would be blocked, and which would not, in sentences.
 * @returns `where`: ` in 3 repositories`, of those where something would be; `loose`: those that the sentences call not
 * enforced.
 */
export function whatGitHubRefuses(places: readonly ToHold[]): {
  blocked: number;
  where: string;
  notes: string[];
  loose: ReadonlySet<string>;
} {
  const sum = (some: readonly ToHold[], of: (each: ToHold) => number) =>
    some.reduce((total, each) => total + of(each), 0);
  const loose = places.filter(({ toHold, toRefuse }) => toRefuse !== null && toRefuse < toHold);
  const unsaid = places.filter(({ toRefuse, toHold }) => toRefuse === null && toHold > 0);
  const left = sum(loose, ({ toHold, toRefuse }) => toHold - toRefuse!);
  const names = (some: readonly ToHold[]) => namesIn(some.map(({ name }) => name));
  return {
    blocked: sum(places, ({ toRefuse }) => toRefuse ?? 0),
    where: inRepositories(places.filter(({ toRefuse }) => toRefuse !== null && toRefuse > 0).length),
    loose: new Set(loose.map(({ name }) => name)),
    notes: [
      ...(left > 0 ? [`${left} would not: nothing requires the check in ${names(loose)}.`] : []),
      ...(unsaid.length > 0
        ? [
            `It is not known whether GitHub would block ${sum(unsaid, ({ toHold }) => toHold)} in ${names(unsaid)}.`,
          ]
        : []),
    ],
  };
}

/** What would be held of deployments in a place: the environments where GitHub waits for Holdfast, and those where not. */
export type DeploymentsToHold = { name: string; waiting: string[]; loose: string[] };

/**
 * How many environments a freeze of deployments would hold, and where it would hold nothing, in sentences.
 * @param unknown the names of places of whose environments GitHub says nothing. @param verb `would be`, or `are`.
 * @returns `held`: null if nothing is known; `leaks`: where something goes past it; `notes`: where there is nothing to hold,
 *   or that is not known.
 */
export function whatDeploymentsWait(
  places: readonly DeploymentsToHold[],
  unknown: readonly string[],
  verb: 'would be' | 'are',
): { held: string | null; leaks: string[]; notes: string[] } {
  const is = verb === 'are' ? 'is' : verb;
  const names = (some: readonly { name: string }[]) => namesIn(some.map(({ name }) => name));
  const holding = places.filter(({ waiting }) => waiting.length > 0);
  const empty = places.filter((each) => !holding.includes(each));
  const loose = empty.filter((each) => each.loose.length > 0);
  const absent = empty.filter((each) => each.loose.length === 0);
  const partly = holding
    .filter((each) => each.loose.length > 0)
    .map((each) => `${namesIn(each.loose)} of ${each.name}`);
  const count = holding.reduce((sum, { waiting }) => sum + waiting.length, 0);
  const what = `${count === 0 ? 'No' : count} ${count > 1 ? 'environments' : 'environment'}`;
  return {
    held:
      places.length > 0 ? `${what}${inRepositories(holding.length)} ${count > 1 ? verb : is} held.` : null,
    leaks: [
      ...(loose.length > 0 ? [`Nothing ${is} held in ${names(loose)}: the rule is not enabled there.`] : []),
      ...(partly.length > 0 ? [`Not held: ${namesIn(partly)}. The rule is not enabled there.`] : []),
    ],
    notes: [
      ...(absent.length > 0 ? [`Nothing ${is} held in ${names(absent)}: there is no such environment.`] : []),
      ...(unknown.length > 0
        ? [`It is not known which environments ${verb} held in ${namesIn(unknown)}.`]
        : []),
    ],
  };
}

const inRepositories = (count: number): string =>
  count === 0 ? '' : ` in ${count} ${count === 1 ? 'repository' : 'repositories'}`;

/** `web, api and 4 more` */
function namesIn(names: readonly string[]): string {
  const shown = names.slice(0, mostPlacesNamed);
  if (names.length > mostPlacesNamed) shown.push(`${names.length - mostPlacesNamed} more`);
  return new Intl.ListFormat('en-GB').format(shown);
}

/** `1 archived repository is skipped: old.` @returns null if there is none. */
export function whatIsSkipped(archived: readonly string[] = []): string | null {
  if (archived.length === 0) return null;
  const are = archived.length === 1 ? 'repository is' : 'repositories are';
  return `${archived.length} archived ${are} skipped: ${namesIn(archived)}.`;
}

/** What narrows something that is for everything without it: a webhook without events tells of all. */
const narrowing = new Set(['repositories', 'events', 'refs', 'environments']);

function fieldText(field: string, value: unknown): string {
  if (value === null && narrowing.has(field)) return 'all';
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value;
  if (field === 'repositories' && !Array.isArray(value)) {
    const { include, exclude } = value as { include: string[]; exclude: string[] };
    return [include.join(', '), ...(exclude.length > 0 ? [`except ${exclude.join(', ')}`] : [])].join(', ');
  }
  if (field === 'recurrence') {
    const { rule, except, until } = value as { rule: string; except: string[]; until: string | null };
    const words = [
      until === null ? '' : `until ${until}`,
      except.length > 0 ? `except on ${except.join(', ')}` : '',
    ];
    return [rule, ...words.filter(Boolean)].join(', ');
  }
  if (!Array.isArray(value)) return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (value.length === 0) return field === 'matching_conditions' ? 'all pull requests' : 'none';
  return field.endsWith('_conditions') ? inOneLine(value as ConditionInput[]) : value.map(String).join(', ');
}

/** Whether everything that is shown is a text, and every time is one. */
export const areTexts = (details: Detail[]): boolean =>
  details.every(({ before, text, isTime }) =>
    [before ?? '', text].every((each) => typeof each === 'string' && !(isTime && isWrongTime(each))),
  );

/** A text that looks like a time and is none. Others, such as `none`, are words. */
function isWrongTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT/.test(text)) return false;
  const at = new Date(text.endsWith('Z') ? text : `${text}Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text.slice(0, 10);
}

/** An end that some freezes have, null for none, after the words for which of them: `7 `, `the first `. */
export type SharedEnd = { which: string; at: Date | null };

/**
 * Until when several freezes are on: all until one instant, so many until each of two, or from the first end to the last. So
 * nobody waits for the last end of what mostly ends earlier.
 */
export function sharedEnds(ends: (Date | null)[]): SharedEnd[] {
  const counts = Map.groupBy(ends, (end) => end?.getTime() ?? Infinity);
  const times = [...counts.keys()].toSorted((one, other) => one - other);
  if (times.length !== 2) return endsBetween(dateAt(times[0] ?? Infinity), dateAt(times.at(-1) ?? Infinity));
  return times.map((time) => ({ which: `${counts.get(time)!.length} `, at: dateAt(time) }));
}

const dateAt = (time: number): Date | null => (time === Infinity ? null : new Date(time));

/** The same where only the first and the last end are known. */
export const endsBetween = (first: Date | null, last: Date | null): SharedEnd[] =>
  first?.getTime() === last?.getTime()
    ? [{ which: '', at: last }]
    : [
        { which: 'the first ', at: first },
        { which: 'the last ', at: last },
      ];
