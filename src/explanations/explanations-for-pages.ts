import { mayAskNow } from '../github/ask-github.ts';
import { Answers } from '../github/cache.ts';
import { type Clock, within, nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { limited, tooManyRequests, unavailable } from '../errors.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import {
  explainPullRequest,
  type PullRequestExplanation,
  type ReadPullRequest,
} from './explain-pull-request.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import { type ReasonNotHeld, whyGroupNotHeld } from '../statuses/held-pull-requests.ts';
import { type Status, wantedOn } from '../statuses/status.ts';
import { statusOn } from '../statuses/write-store.ts';

/** Milliseconds to keep what GitHub said of a pull request, unless the repository is observed again. */
const explanationFreshFor = 10_000;
/** Looks at GitHub per minute and installation. */
const looksPerMinute = 30;
/** The share for public pages, which everybody may load. */
export const publicLooksPerMinute = 20;
/**
 * The shares of GitHub's hourly rate limit that we reserve for holding pull requests. A look costs many requests
 * if conditions read the files of a large pull request.
 */
const explanationReserve = 1 / 4;
const publicReserve = 1 / 2;
const mostExplanationsKept = 1000;
/** Milliseconds to wait for GitHub before the page shows what we know. A later answer serves the next request. */
const explanationPatience = 5000;

/**
 * Explanations for pages. Anybody may load pages as often as they like, so this limits how much of GitHub's hourly rate
 * limit they use. What changes here, such as an exemption, counts at once.
 */
export class ExplanationsForPages {
  /** That a pull request does not exist counts as an answer. */
  readonly #looks: Answers<{ read: ReadPullRequest | null }>;

  constructor(clock: Clock) {
    this.#looks = new Answers(clock, mostExplanationsKept, () => explanationFreshFor);
  }

  /**
   * @throws Refusal like `explainPullRequest`; too-many-requests if the looks of this minute are used up;
   * unavailable if the rest of GitHub's hourly rate limit is reserved.
   */
  async get(
    { questions, ...deps }: Deps,
    repository: FoundRepository,
    number: bigint,
  ): Promise<PullRequestExplanation> {
    return explainPullRequest(deps, repository, number, async ({ facts, teams }, read) => {
      const key = [repository.id, number, repository.observations, ...facts, ...teams].join(' ');
      const look = async () => {
        // Counts for the person who asks, although the answer serves others too.
        await questions?.beforeLook();
        await beforeLook(deps, repository);
        return { read: await read() };
      };
      const answer = await within(explanationPatience, this.#looks.get(key, look));
      if (!answer) throw unavailable('GitHub is slow to answer. Reload this page in a moment.');
      return answer.read;
    });
  }
}

/** @throws Refusal if the looks of this minute are used up, or if the rest of the hour is reserved. */
async function beforeLook(deps: Deps, repository: FoundRepository): Promise<void> {
  const { private: isPrivate, installation } = repository;
  const share = isPrivate ? explanationReserve : publicReserve;
  const answer = await mayAskNow(deps, installation.id, share, {
    name: `looks ${installation.id}`,
    perMinute: isPrivate ? looksPerMinute : publicLooksPerMinute,
  });
  if (answer === 'reserved') {
    const now = deps.clock.now();
    const until = deps.github.budgets.scarceUntil(installation.id, share) ?? now + 60_000;
    throw limited(
      'Holdfast reserves the rest of this hour’s GitHub rate limit for freezes. Load this page later.',
      until,
      now,
    );
  }
  if (answer === 'too many')
    throw tooManyRequests(
      `Too many pages of ${fullName(repository)} were loaded. Load this one in a minute.`,
      60,
    );
}

/** What the database knows about an open pull request, from its last verdict. */
type RecalledPullRequest = { headSha: string; heldBy: Freeze[] };

/** @returns null if it is not known to be open. */
export async function recallPullRequest(
  deps: Pick<Deps, 'db' | 'sql' | 'clock'>,
  repository: FoundRepository,
  number: number,
): Promise<RecalledPullRequest | null> {
  const known = await deps.db.openPullRequest.findUnique({
    where: { repositoryId_number: { repositoryId: repository.id, number } },
  });
  if (!known) return null;
  return { headSha: known.headSha, heldBy: await ongoingAmong(deps, repository, known.heldBy) };
}

/** The ongoing freezes among these ids. */
async function ongoingAmong(
  { sql, clock }: Pick<Deps, 'sql' | 'clock'>,
  repository: FoundRepository,
  ids: string[],
): Promise<Freeze[]> {
  const now = nowOf(clock);
  const all = await listFreezes(sql, repository, now);
  return all.filter((freeze) => ids.includes(freeze.id) && phaseOf(freeze, now) === 'ongoing');
}

/** A merge group with its last verdict. */
export type RecalledMergeGroup = {
  branch: string;
  /** Our status on it, or the one that we are about to write; null before the first verdict. */
  status: (Status & { isFinal: boolean }) | null;
  /** The pull requests that it merges, in queue order; empty while GitHub's queue does not show it. */
  pullRequests: { number: number; heldBy: Freeze[] }[];
  heldBy: Freeze[];
  /** Why it may not be held although freezes should hold it. */
  notHeld: ReasonNotHeld | null;
};

/** @returns null if the group does not exist any more. */
export async function recallMergeGroup(
  deps: Pick<Deps, 'db' | 'sql' | 'clock'>,
  repository: FoundRepository,
  headSha: string,
): Promise<RecalledMergeGroup | null> {
  const { db } = deps;
  const { id } = repository;
  const group = await db.mergeGroup.findUnique({
    where: { repositoryId_headSha: { repositoryId: id, headSha } },
  });
  if (!group) return null;
  const status = await statusOn(db, id, headSha);
  const open = await db.openPullRequest.findMany({
    where: { repositoryId: id, number: { in: group.pullRequests } },
    select: { number: true, heldBy: true },
  });
  const held = new Map(open.map(({ number, heldBy }) => [number, heldBy]));
  const freezes = await ongoingAmong(deps, repository, [
    ...group.heldBy,
    ...open.flatMap(({ heldBy }) => heldBy),
  ]);
  const among = (ids: string[]) => freezes.filter((freeze) => ids.includes(freeze.id));
  return {
    branch: group.branch,
    status: status && { ...wantedOn(status), isFinal: status.isFinal },
    pullRequests: group.pullRequests.map((number) => ({ number, heldBy: among(held.get(number) ?? []) })),
    heldBy: among(group.heldBy),
    notHeld: await whyGroupNotHeld(deps, id, headSha),
  };
}
