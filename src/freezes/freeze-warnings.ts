import { isDeepStrictEqual } from 'node:util';
import { attributeOf } from '../conditions/attributes.ts';
import { escapedByAuthor, excludedByAuthor, excludedForPushers } from '../conditions/author-control.ts';
import type { Matcher } from '../conditions/match.ts';
import { cutText } from '../cut-text.ts';
import { type Grants, missingForDeployments } from '../github/app-manifest.ts';
import { eachField, type Freeze, holdsDeployments, holdsMerges, longestDeploymentWait } from './freeze.ts';
import { phaseOf } from './freeze-window.ts';
import type { FreezeVerdict, FreezeConditions, ParsedFreeze } from './judge-freeze.ts';
import { type KnownValues, meantAmong } from './meant-values.ts';
import { compileNameGlob } from '../conditions/patterns/compile-name-glob.ts';
import { nearNames } from '../conditions/suggest-names.ts';

export { labelsOnNone } from './meant-values.ts';
export type { KnownValues } from './meant-values.ts';

export const warningTypes = [
  'matches_nothing',
  'matches_everything',
  'author_controlled_exclude',
  'pusher_controlled_exclude',
  'or_meant',
  'excludes_nothing',
  'not_judged',
  'not_enforced',
  'switched_off',
  'deployments_forgotten',
  'deployments_not_stopped',
  'environment_unknown',
] as const;

const pushersGetThrough = 'Everybody who can push to the branch of an excluded pull request gets through';
const excludesNothing = 'exclude_conditions exclude none of the open pull requests';
const matchesNothing = 'matching_conditions match none of the open pull requests';

/** Whether a warning is in the `Warning` header too, which stays as clients of the interface know it. */
export const isInHeader = (warning: string): boolean =>
  ![pushersGetThrough, excludesNothing, matchesNothing, noEnvironment].some((start) =>
    warning.startsWith(start),
  );

export type Warning = { type: (typeof warningTypes)[number]; message: string };

const warn = (type: Warning['type'], message: string): Warning => ({ type, message });

/** How many open pull requests have each verdict. */
export type Counts = { open: number } & Record<FreezeVerdict, number>;

export function verdictCounts(verdicts: FreezeVerdict[]): Counts {
  const counts: Counts = { open: verdicts.length, frozen: 0, excluded: 0, unknown: 0, not_matched: 0 };
  for (const verdict of verdicts) counts[verdict] += 1;
  return counts;
}

/** The open pull requests, the labels of the repository, the verdicts of the freeze, and when it was evaluated. */
export type SeenOpen = KnownValues & { counts: Counts; at: Date };

/**
 * What an admin should know about a freeze.
 * @param seen null if the open pull requests are unknown.
 * @param isOn whether a product switches freezes on.
 */
export function warningsOf(
  { freeze, conditions }: ParsedFreeze,
  seen: SeenOpen | null,
  isOn: boolean,
): Warning[] {
  // All of these are about pull requests.
  if (!holdsMerges(freeze)) return [];
  return [
    ...(isOn ? [] : [noProduct]),
    ...(seen ? warningsOfCounts(seen.counts) : []),
    ...(conditions ? warningsOfAuthor(conditions) : []),
    ...(conditions && seen ? warningsOfOr(conditions, seen) : []),
    ...(conditions && seen ? warningsOfNothing(conditions, seen) : []),
    ...(conditions && seen ? warningsOfMeant(conditions, seen) : []),
  ];
}

const noProduct: Warning = {
  type: 'switched_off',
  message: 'Neither merge_protections nor merge_queue is enabled here, so this freeze holds nothing.',
};

/**
 * Warns of a freeze that repeats another one exactly: ending one of them lets nothing go. Two that have begun are the
 * same no matter when.
 * @param others freezes of the repository that are not over.
 */
export function warningOfRepeat(freeze: Freeze, others: Freeze[], now: Date): string[] {
  const same = others.find((other) => isDeepStrictEqual(comparable(other, now), comparable(freeze, now)));
  if (!same) return [];
  return [
    `This freeze repeats ${same.id}, which is ${phaseOf(same, now)}. Both hold until both are over: delete one of them.`,
  ];
}

const comparable = (freeze: Freeze, now: Date) => ({
  ...eachField<object>((name, { byDefault, unset }) => {
    const value = freeze[name] ?? byDefault;
    return unset === 'empty' ? (value as string[]).toSorted() : value;
  }),
  start: phaseOf(freeze, now) === 'scheduled' ? freeze.startsAt.getTime() : null,
  end: freeze.endsAt?.getTime() ?? null,
  timezone: null,
});

/**
 * Warns about the deployments that a freeze or plan holds.
 * @param windows when it is ongoing: the freeze itself, or the next occurrences of the plan.
 * @param permissions what the installation granted.
 */
export function warningsOfDeployments(
  freeze: Pick<Freeze, 'holds' | 'onDeployment'>,
  windows: Pick<Freeze, 'startsAt' | 'endsAt'>[],
  permissions: unknown,
): Warning[] {
  if (!holdsDeployments(freeze)) return [];
  const isLong = ({ startsAt, endsAt }: Pick<Freeze, 'startsAt' | 'endsAt'>) =>
    endsAt === null || endsAt.getTime() - startsAt.getTime() > longestDeploymentWait;
  const long = freeze.onDeployment === 'reject' ? undefined : windows.find(isLong);
  const missing = missingForDeployments({ permissions: permissions as Grants['permissions'] });
  return [
    long !== undefined &&
      warn(
        'deployments_forgotten',
        `GitHub forgets a deployment that waited 30 days: its job fails. The freeze ${long.endsAt === null ? 'has no end' : 'lasts longer'}.`,
      ),
    missing.length > 0 &&
      warn(
        'deployments_not_stopped',
        `Freezes cannot block deployments on GitHub: Holdfast lacks ${missing.join(', ')}. Only a gate in the pipeline stops them.`,
      ),
  ].filter((warning) => warning !== false);
}

/** A branch that does not require our check. @property why it cannot, to go on after a colon; null if it can. */
export type Unenforced = { branch: string; why: string | null };

/** @param url the page that says what is missing. */
export const warningOfBranches = (unenforced: Unenforced[], context: string, url: string): Warning[] =>
  [...Map.groupBy(unenforced, ({ why }) => why)].map(([why, of]) => {
    const branches = some(of.map(({ branch }) => branch));
    const because = why ?? `${context} is not required there, or not from Holdfast`;
    return warn('not_enforced', `Nothing enforces this freeze on ${branches}: ${because}. See ${url}`);
  });

function warningsOfCounts(counts: Counts): Warning[] {
  const { open, unknown } = counts;
  const held = counts.frozen + unknown;
  const none = 'There are no open pull requests now, so nothing shows whether the conditions are right.';
  return [
    open === 0
      ? warn('matches_nothing', none)
      : held === 0
        ? warn('matches_nothing', `This freeze holds none of the open pull requests (${open}).`)
        : held === open &&
          warn(
            'matches_everything',
            `This freeze holds every open pull request (${open}) and excludes none.`,
          ),
    unknown > 0 &&
      warn(
        'not_judged',
        `Holdfast could not evaluate the conditions for ${unknown} pull requests, so it would hold them.`,
      ),
  ].filter((warning) => warning !== false);
}

function warningsOfAuthor({ matching, exclude }: FreezeConditions): Warning[] {
  const loose = exclude ? excludedByAuthor(exclude) : [];
  const escapes = escapedByAuthor(matching);
  const authors = exclude ? excludedForPushers(exclude) : [];
  return [
    loose.length > 0 &&
      warn(
        'author_controlled_exclude',
        `The author of a pull request can get it excluded without anybody else: ${some(loose.map(quote))} depends on what the author decides. \`label\` and \`base\` do not.`,
      ),
    escapes.length > 0 &&
      warn(
        'author_controlled_exclude',
        `The author of a pull request can avoid the freeze with the same change: ${some(escapes.map(quote))} depends on what the author decides. \`label\`, \`files\` and \`base\` do not.`,
      ),
    authors.length > 0 &&
      warn(
        'pusher_controlled_exclude',
        `${pushersGetThrough}: ${some(authors.map(quote))} asks who opened it, not who pushed to it. Add \`last-pushed-by\`.`,
      ),
  ].filter((warning) => warning !== false);
}

/** Warns about exclusions that exclude something one by one but nothing together: they were meant as alternatives. */
function warningsOfOr({ matching, exclude }: FreezeConditions, { open, at }: SeenOpen): Warning[] {
  if (exclude?.kind !== 'and' || exclude.nodes.length < 2) return [];
  const now = at.getTime();
  const selected = open.filter((facts) => matching.judge(facts, now) !== false);
  if (selected.some((facts) => exclude.judge(facts, now) !== false)) return [];
  const alone = exclude.nodes
    .map((item) => ({ item, excludes: selected.filter((facts) => item.judge(facts, now) === true) }))
    .find(({ item, excludes }) => excludes.length > 0 && !narrows(item, excludes.length, selected.length));
  if (!alone) return [];
  const numbers = alone.excludes.map(({ number }) => `#${number}`);
  const or = `{"or": [${exclude.nodes.map((item) => JSON.stringify(inputOf(item))).join(', ')}]}`;
  const message =
    `All items of exclude_conditions must match: together they exclude no open pull request, ${quote(conditionText(alone.item))} alone excludes ${some(numbers)}. ` +
    `If one of them is enough, put them into an or: ${or.length <= longestOr ? `\`${or}\`` : '`{"or": […]}`'}.`;
  return [{ type: 'or_meant', message }];
}

const longestOr = 300;

/**
 * Warns about exclusions that exclude nothing: about the only one, and about one of several whose value is meant as
 * something else.
 */
function warningsOfNothing({ matching, exclude }: FreezeConditions, seen: SeenOpen): Warning[] {
  const items = exclude?.kind === 'and' ? exclude.nodes : [];
  const { open } = seen;
  const now = seen.at.getTime();
  const selected = open.filter((facts) => matching.judge(facts, now) !== false);
  if (items.length === 0 || selected.length === 0) return [];
  if (selected.some((facts) => exclude!.judge(facts, now) !== false)) return [];
  const found =
    meantAmong(items, selected, seen) ?? (items.length === 1 ? { item: items[0]!, hint: '' } : null);
  if (!found) return [];
  const { item, hint } = found;
  const message = `${excludesNothing} (${selected.length}): ${quote(conditionText(item))} matches none.`;
  return [{ type: 'excludes_nothing', message: `${message}${hint}` }];
}

/** Warns about the conditions of a freeze that holds nothing, if a value of them is meant as something else. */
function warningsOfMeant({ matching }: FreezeConditions, seen: SeenOpen): Warning[] {
  const items = matching.kind === 'and' ? matching.nodes : [matching];
  if (seen.counts.not_matched < seen.counts.open) return [];
  const found = meantAmong(items, seen.open, seen);
  if (!found) return [];
  const message = `${matchesNothing}: ${quote(conditionText(found.item))} matches none.${found.hint}`;
  return [{ type: 'matches_nothing', message }];
}

/** Whether an item says where or when, or matches everything. It then narrows the others and is not an alternative. */
function narrows(item: Matcher, excluded: number, selected: number): boolean {
  if (excluded === selected && selected > 1) return true;
  if (item.kind !== 'leaf') return false;
  const { decidedBy } = attributeOf(item.leaf.attribute);
  return decidedBy === 'nobody' || decidedBy === 'author-elsewhere';
}

/** A condition as it was sent. */
function inputOf(item: Matcher): unknown {
  if (item.kind === 'leaf') return item.leaf.text;
  return { [item.kind]: item.kind === 'not' ? inputOf(item.node) : item.nodes.map(inputOf) };
}

function conditionText(item: Matcher): string {
  const input = inputOf(item);
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** Warnings are in a header too, so they stay short, even if conditions are long. */
const longestQuote = 80;
const quote = (text: string): string => `\`${cutText(text, longestQuote)}\``;

const mostConditionsNamed = 3;

/** The first names, and how many more there are. */
function some(names: string[]): string {
  const more = names.length - mostConditionsNamed;
  return [...names.slice(0, mostConditionsNamed), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** What we know about a freeze before we save it: the branches where nothing enforces it, and the warnings. */
export type Ahead = { unenforced: Unenforced[]; warnings: string[] };

/** The names that a repository has. */
export type NamesIn = { repository: string; names: string[] };

/** The globs, or names, that match none of these names. */
export const globsOfNothing = (globs: string[], names: string[]): string[] =>
  globs.filter((glob) => !names.some(compileNameGlob(glob)));

/** The environments that somebody named for a freeze or plan. What holds all of them names none. */
export const namedEnvironments = (freeze: Pick<Freeze, 'holds' | 'environments'>): string[] =>
  holdsDeployments(freeze) ? (freeze.environments ?? []).filter((glob) => !/^\*+$/.test(glob)) : [];

/** How many sentences there are, how many repositories one names, and how long names are in it. */
const mostSentences = 5;

const mostRepositories = 3;

const longestName = 80;

/** What a sentence about an unknown environment begins with. */
const noEnvironment = 'No environment of ';

/**
 * Warns of environments that a freeze names and no deployment can have, a sentence for each.
 * @param places the environments of each repository, by its full name.
 */
export function unknownEnvironments(named: string[], places: NamesIn[]): string[] {
  const unknown = named.flatMap((glob) => {
    const without = places.filter(({ names }) => globsOfNothing([glob], names).length > 0);
    return without.length === 0 ? [] : [{ glob, without }];
  });
  const more = unknown.length - mostSentences;
  return [
    ...unknown.slice(0, mostSentences).map(({ glob, without }) => sentence(glob, without)),
    ...(more > 0
      ? [`${noEnvironment}${somewhere(unknown.at(-1)!.without)} matches ${more} more names.`]
      : []),
  ];
}

function sentence(glob: string, without: NamesIn[]): string {
  const [near] = without.flatMap(({ names }) => nearNames(glob.slice(0, longestName), names));
  const meant = near === undefined ? '' : ` Did you mean \`${near}\`?`;
  return `${noEnvironment}${somewhere(without)} matches \`${cutText(glob, longestName)}\`.${meant}`;
}

function somewhere(places: NamesIn[]): string {
  const more = places.length - mostRepositories;
  const named = places.slice(0, mostRepositories).map(({ repository }) => repository);
  return [...named, ...(more > 0 ? [`${more} more repositories`] : [])]
    .join(', ')
    .replace(/, ([^,]*)$/, ' and $1');
}
