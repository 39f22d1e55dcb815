import { type Cache, cachePerService } from '../cache.ts';
import type { GitHubDeps } from '../github-deps.ts';
import { hour } from '../../time/units.ts';

// What pull requests can make us ask GitHub in an hour. Everybody can open a pull request in a public repository, make it
// large and change it all day, so nobody's pull requests may use up what freezes need to begin and end.

/** Who causes requests: a pull request, the owner of its head (null: its head is in the repository itself). */
export type Causer = {
  installationId: bigint;
  repositoryId: bigint;
  number: number;
  headOwner: string | null;
};

/**
 * The most of an installation's hour that further requests about pull requests may use: pages of files, commits and
 * reviews, and other questions about a single one. Who has no fork has write access, so only forks have a share each.
 */
export const sharesOfHour = {
  pullRequest: 0.03,
  headOwner: 0.05,
  forksOfRepository: 0.1,
  forks: 0.15,
  repository: 0.4,
} as const;

type ReadShare = keyof typeof sharesOfHour;

/** Why a fact is not known, as a reason for `Fact`. */
const usedUp: Record<ReadShare, (causer: Causer) => string> = {
  pullRequest: () => 'it used up its share of this hour’s requests to GitHub',
  headOwner: ({ headOwner }) =>
    `pull requests of ${headOwner} used up their share of this hour’s requests to GitHub`,
  forksOfRepository: () => 'pull requests from forks used up their share of this hour’s requests to GitHub',
  forks: () => 'pull requests from forks used up their share of this hour’s requests to GitHub',
  repository: () => 'its repository used up its share of this hour’s requests to GitHub',
};

/** The shares that a pull request draws on, each with what counts together. */
export const sharesOf = ({
  installationId,
  repositoryId,
  number,
  headOwner,
}: Causer): [ReadShare, string][] => [
  ['pullRequest', `${repositoryId}#${number}`],
  ['repository', `${repositoryId}`],
  ...(headOwner === null
    ? []
    : ([
        ['headOwner', `${installationId} ${headOwner.toLowerCase()}`],
        ['forksOfRepository', `${repositoryId}`],
        ['forks', `${installationId}`],
      ] as [ReadShare, string][])),
];

/** Requests that were counted, and since when, in milliseconds since the epoch. */
type Count = { used: number; since: number };

/** Counts that are kept. Beyond that, those that were used least recently begin anew. */
const mostCounts = 50_000;

const readCountsOf = cachePerService<string, Count>(mostCounts, hour);

/**
 * Counts requests about a pull request, if each of its shares has as many left. Not where GitHub names no limit, such as
 * on GitHub Enterprise Server.
 * @returns why not, as a reason for `Fact`; null if they may be sent.
 */
export function takeFromShares(
  deps: Pick<GitHubDeps, 'github' | 'clock'>,
  causer: Causer,
  requests: number,
): string | null {
  const counts = readCountsOf(deps);
  const now = deps.clock.now();
  const limit = deps.github.budgets.limit(causer.installationId);
  if (limit === null) return null;
  const shares = sharesOf(causer).map(([share, of]) => {
    const key = `${share} ${of}`;
    return { share, key, count: counts.get(key) ?? { used: 0, since: now } };
  });
  const full = shares.find(({ share, count }) => count.used + requests > sharesOfHour[share] * limit);
  if (full) return usedUp[full.share](causer);
  for (const { key, count } of shares) add(counts, key, count, requests);
  return null;
}

function add(counts: Cache<string, Count>, key: string, { used, since }: Count, requests: number): void {
  counts.set(key, { used: used + requests, since }, hour, since);
}

/**
 * How many questions about events one repository may cause: a part of the hour at once, and then a part of it in each
 * hour. Events that wait are read together, so a busy repository is only a few seconds late.
 */
export const questionsOfEvents = { atOnce: 0.06, perHour: 0.1 } as const;

/** What is left of a repository's questions, as of an instant in milliseconds. */
type Left = { questions: number; at: number };

/**
 * Takes questions from what is left.
 * @returns what is left then, and the milliseconds until they may be asked; 0 is now, and then they are taken.
 */
export function takeQuestions(
  left: Left | undefined,
  questions: number,
  now: number,
  limit: number,
): { left: Left; wait: number } {
  const most = Math.max(questions, questionsOfEvents.atOnce * limit);
  const perMillisecond = (questionsOfEvents.perHour * limit) / hour;
  const refilled = left ? left.questions + (now - left.at) * perMillisecond : most;
  const present = { questions: Math.min(most, refilled), at: now };
  if (present.questions >= questions)
    return { left: { ...present, questions: present.questions - questions }, wait: 0 };
  return { left: present, wait: Math.ceil((questions - present.questions) / perMillisecond) };
}

const questionsLeft = cachePerService<string, Left>(mostCounts, Infinity);

/**
 * When the events of a repository may be read; null if it is now, and then it counts.
 * @param questions how many it takes to read them.
 * @param headOwner whose forks cause them; empty for nobody's. Nobody's forks take more than half of the questions.
 * @param before how many are taken again before these when they are read then.
 */
export function readsEventsAt(
  deps: Pick<GitHubDeps, 'github' | 'clock'>,
  { id, installation }: { id: bigint; installation: { id: bigint } },
  questions: number,
  headOwner = '',
  before = 0,
): Date | null {
  const kept = questionsLeft(deps);
  const now = deps.clock.now();
  const limit = deps.github.budgets.limit(installation.id);
  if (limit === null) return null;
  const ofForks: [string, number][] =
    headOwner === '' ? [] : [[`${id} ${headOwner.toLowerCase()}`, limit / 2]];
  const take = (some: number) =>
    [[String(id), limit] as const, ...ofForks].map(([key, most]) => ({
      key,
      ...takeQuestions(kept.get(key), some, now, most),
    }));
  const waitOf = (takings: { wait: number }[]) => Math.max(...takings.map(({ wait }) => wait));
  const takings = take(questions);
  if (waitOf(takings) > 0) return new Date(now + waitOf(take(questions + before)));
  for (const { key, left } of takings) kept.set(key, left);
  return null;
}
