import { createHash } from 'node:crypto';
import {
  type Exemption,
  coversFreeze,
  exemptionFrom,
  exemptedSubjectOf,
  wasExemptFrom,
} from '../exemptions/exemption.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { type ParsedFreeze, judgeFreeze, nextChangeOf, whyUnknown } from '../freezes/judge-freeze.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import { type PresentStatus, asOpen, type PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import {
  exemptText,
  freeGroupText,
  freeText,
  frozenText,
  type Hold,
  type Pass,
  type Status,
} from './status.ts';
import { mapAtOnce } from '../time/slices.ts';
import { closenessOf, type WriteSubject } from './plan-write.ts';

/** The freezes and exemptions that we judge pull requests by. */
export type Standards = {
  /** The ongoing freezes. */
  freezes: ParsedFreeze[];
  /** Includes exemptions that ended recently. */
  exemptions: Exemption[];
  /** The ids of all freezes that are not over and have a public reason. */
  hiding: string[];
  observedAt: Date;
};

/** What the status of a SHA should say, and what decided it. */
export type JudgedVerdict = {
  sha: string;
  status: Status;
  holds: Hold[];
  present: PresentStatus;
  subject: WriteSubject;
  /** Whose fork the commit is in; empty if it is in the repository. */
  headOwner: string;
  /** Of one share of the pace, the smallest is written first. */
  urgency: number;
  /** The closed pull request with this head; absent if an open one has it. */
  closedNumber?: number;
};

/** The freezes that hold a pull request, and those that would hold it without an exemption. */
type Weighed = { holds: Hold[]; passes: Pass[] };

/** An open pull request with what holds it. */
export type Judged = { pullRequest: LoadedPullRequest } & Weighed;

/** The judged pull requests, and the status of each of their SHAs. */
export type PullRequestJudgement = { judged: Judged[]; verdicts: JudgedVerdict[]; nextChangeAt: Date | null };

/**
 * Judges each open pull request once. The status of a SHA applies to all pull requests that have it as head or test
 * merge commit. We leave a test merge commit that is not a head alone while it has no status from us: once it has one,
 * GitHub requires it there as well.
 */
export async function judge(
  standards: Standards,
  pullRequests: LoadedPullRequest[],
): Promise<PullRequestJudgement> {
  const { freezes, observedAt } = standards;
  const byNumber = exemptionsByNumber(standards);
  const facts = pullRequests.map((pullRequest) => pullRequest.facts);
  const weighed = withStacks(await mapAtOnce(facts, (each) => weighAlone(standards, each, byNumber)));
  const judged = pullRequests.map((pullRequest, index) => ({ pullRequest, ...weighed[index]! }));
  const bySha = Map.groupBy(judged.flatMap(commitsOf), ({ sha }) => sha);
  const verdicts = await mapAtOnce([...bySha], ([sha, commits]): JudgedVerdict[] => {
    const present = newestOf(commits.map(({ status }) => status));
    if (!present && !commits.some(({ isHead }) => isHead)) return [];
    const holds = commits.flatMap((commit) => commit.holds);
    const status = decideHead(commits);
    const sharing = commits.map(({ pullRequest }) => pullRequest);
    const isReturning = commits.some(({ holds: own, pullRequest: { facts } }) =>
      own.some(({ freeze }) =>
        wasExemptFrom(byNumber.get(facts.number) ?? [], exemptedSubjectOf(facts), freeze.id),
      ),
    );
    const urgency = Math.min(...sharing.map(closenessOf));
    const subject = isReturning ? 'returning' : 'open';
    return [{ sha, status, holds, present, subject, headOwner: ownerAmong(sharing), urgency }];
  });
  const nextChangeAt = await nextChangeAmong(freezes, facts, observedAt);
  return { judged, verdicts: verdicts.flat(), nextChangeAt };
}

/** The owner of a commit, for its share of the pace: the repository itself, if it has a branch there. */
const ownerAmong = (sharing: LoadedPullRequest[]): string =>
  sharing.map(({ headOwner }) => headOwner).reduce((one, other) => (other < one ? other : one));

/** The commits whose statuses decide whether GitHub merges a pull request. */
function commitsOf(judged: Judged) {
  const { facts, status, testMerge } = judged.pullRequest;
  const head = { ...judged, sha: facts.headSha, status, isHead: true };
  return testMerge ? [head, { ...judged, ...testMerge, isHead: false }] : [head];
}

/** The newest status, because pull requests that share a commit may have been read at different times. */
const newestOf = (statuses: PresentStatus[]): PresentStatus =>
  statuses.reduce((one, other) => (one && (!other || one.at >= other.at) ? one : other), null);

/** The SHAs of a pull request, which other pull requests may share. */
export const shasOf = ({ facts, testMerge }: LoadedPullRequest): string[] =>
  testMerge ? [facts.headSha, testMerge.sha] : [facts.headSha];

/**
 * What verdicts on closed pull requests depend on: the ongoing freezes and their conditions.
 * @returns a digest; empty if there are no freezes.
 */
export function judgedBy(freezes: ParsedFreeze[]): string {
  if (freezes.length === 0) return '';
  const all = freezes.map(({ freeze }) => [freeze.id, freeze.matchingConditions, freeze.excludeConditions]);
  return createHash('sha256').update(JSON.stringify(all.toSorted())).digest('base64url');
}

/** Milliseconds after which we ignore a closed pull request. */
const longestAgo = 30 * 86_400_000;

/** We ignore pull requests that were closed before this instant. */
export const closedSince = (observedAt: Date): Date => new Date(observedAt.getTime() - longestAgo);

/**
 * Which heads of closed pull requests to hold as if they were open. If somebody reopens one, or opens another pull
 * request on the same head, an old success could let it merge before we answer. A head without our status, such as
 * one that we never saw open, already blocks. Exemptions do not count: they are for one pull request, and a new pull
 * request on its head must not find the success.
 */
export async function judgeClosed(
  { freezes, observedAt }: Standards,
  closed: LoadedPullRequest[],
): Promise<JudgedVerdict[]> {
  const bySha = Map.groupBy(
    closed.filter(mayBeOpenedAgain(closedSince(observedAt))),
    ({ facts }) => facts.headSha,
  );
  const verdicts = await mapAtOnce([...bySha], ([sha, sharing]): JudgedVerdict[] => {
    const weighed = sharing.map(({ facts }) => ({
      holds: holdsOf(freezes, asOpen(facts), observedAt),
      passes: [],
    }));
    const holds = weighed.flatMap((each) => each.holds);
    const present = sharing[0]!.status;
    if (holds.length === 0 || !present) return [];
    const wanted = decideHead(weighed);
    // A different text alone is not worth a write.
    const status = present.state === wanted.state ? { ...wanted, description: present.description } : wanted;
    const closedNumber = holds[0]!.pullRequest;
    const headOwner = ownerAmong(sharing);
    return [{ sha, status, holds, present, subject: 'closed', headOwner, urgency: 0, closedNumber }];
  });
  return verdicts.flat();
}

const mayBeOpenedAgain =
  (since: Date) =>
  ({ isOpen, facts: { values } }: LoadedPullRequest): boolean =>
    !isOpen && values.merged !== true && Number(values['closed-at'] ?? 0) >= since.getTime();

/**
 * The status of a SHA for all pull requests that have it. The strictest verdict counts.
 * @param sharing at least one: what holds each of them.
 */
export function decideHead(sharing: Weighed[]): Status {
  const isShared = sharing.length > 1;
  const holds = sharing.flatMap((each) => each.holds);
  const passes = sharing.flatMap((each) => each.passes);
  if (holds.length > 0) return { state: 'pending', description: frozenText(holds, isShared) };
  const description = passes.length > 0 ? exemptText(passes, isShared) : freeText;
  return { state: 'success', description };
}

/** Milliseconds before the queue's time-out by which a freeze must end, so that our success arrives in time. */
const groupMargin = 60_000;

/**
 * The status of a merge group, for everything that it merges. A held group only keeps its place if every freeze ends
 * before the queue stops waiting for our answer. Otherwise it fails, and GitHub rebuilds the groups behind it.
 * @param timesOutAt when the queue treats a missing answer as a failure.
 */
export function decideGroup(
  standards: Standards,
  pullRequests: PullRequestFacts[],
  timesOutAt: Date,
): { status: Status; holds: Hold[] } {
  const holds = weighTogether(standards, pullRequests).flatMap((weighed) => weighed.holds);
  if (holds.length === 0) return { status: { state: 'success', description: freeGroupText }, holds };
  const endsInTime = ({ freeze }: Hold) =>
    freeze.endsAt !== null && freeze.endsAt.getTime() < timesOutAt.getTime() - groupMargin;
  const state = holds.every(endsInTime) ? 'pending' : 'failure';
  return { status: { state, description: frozenText(holds, true) }, holds };
}

/** Applies freezes and exemptions to a pull request. An exemption only frees it from the freezes that it covers. */
function weigh({ freezes, exemptions, hiding, observedAt }: Standards, facts: PullRequestFacts): Weighed {
  const weighed: Weighed = { holds: [], passes: [] };
  for (const hold of holdsOf(freezes, facts, observedAt)) {
    const { freeze, pullRequest } = hold;
    const exemption = exemptionFrom(exemptions, exemptedSubjectOf(facts), freeze.id, observedAt);
    if (!exemption) weighed.holds.push(hold);
    else {
      const isReasonHidden = hiding.some((id) => coversFreeze(exemption, id));
      weighed.passes.push({ freeze, pullRequest, exemption, isReasonHidden });
    }
  }
  return weighed;
}

/** The freezes with a public reason. If an exemption covers one of them, everybody sees its public reason only. */
export const hidingAmong = (freezes: Pick<Freeze, 'id' | 'publicReason'>[]): string[] =>
  freezes.flatMap(({ id, publicReason }) => (typeof publicReason === 'string' ? [id] : []));

/**
 * Weighs open pull requests, each with those of them below it in its stack, because merging it merges them.
 * @returns the results in the order of the pull requests.
 */
export function weighTogether(
  standards: Standards,
  pullRequests: PullRequestFacts[],
  byNumber = exemptionsByNumber(standards),
): Weighed[] {
  return withStacks(pullRequests.map((facts) => weighAlone(standards, facts, byNumber)));
}

type WeighedAlone = Weighed & { stack: PullRequestFacts['stack'] };

function weighAlone(
  standards: Standards,
  facts: PullRequestFacts,
  byNumber: ReturnType<typeof exemptionsByNumber>,
): WeighedAlone {
  const exemptions = byNumber.get(facts.number) ?? [];
  return { stack: facts.stack, ...weigh({ ...standards, exemptions }, facts) };
}

function withStacks(each: WeighedAlone[]): Weighed[] {
  const byStack = Map.groupBy(each, ({ stack }) => stack?.number);
  return each.map(({ stack, holds, passes }): Weighed => {
    if (!stack) return { holds, passes };
    const below = byStack.get(stack.number)!.filter((other) => other.stack!.position < stack.position);
    const theirs = below.flatMap((other) => other.holds.map((hold) => ({ ...hold, isBelow: true })));
    return { holds: [...holds, ...theirs], passes };
  });
}

/** Grouped, so that we do not compare each of a thousand pull requests with every exemption. */
const exemptionsByNumber = ({ exemptions }: Standards) =>
  Map.groupBy(exemptions, (exemption) => exemption.pullRequest);

/**
 * The freezes that select a pull request. It is held while any of them does, and each freeze has its own exclusions.
 * Ignores exemptions, which `weigh` applies.
 */
export function holdsOf(freezes: ParsedFreeze[], facts: PullRequestFacts, now: Date): Hold[] {
  const at = now.getTime();
  return freezes.flatMap((parsed): Hold[] => {
    const verdict = judgeFreeze(parsed, facts, at);
    if (verdict !== 'frozen' && verdict !== 'unknown') return [];
    const unjudged = verdict === 'unknown' ? whyUnknown(parsed, facts, at) : null;
    return [{ freeze: parsed.freeze, pullRequest: facts.number, unjudged }];
  });
}

/** Nobody waits longer, and PostgreSQL writes later years differently. */
const latest = Date.parse('9999-12-30T00:00:00Z');

/** When time alone may next change the verdicts of these freezes; null if not before a freeze starts or ends. */
export async function nextChangeAmong(
  freezes: ParsedFreeze[],
  pullRequests: PullRequestFacts[],
  now: Date,
): Promise<Date | null> {
  const at = now.getTime();
  const timed = freezes.filter(({ conditions }) => conditions?.isTimed);
  if (timed.length === 0) return null;
  let next = Infinity;
  await mapAtOnce(pullRequests, (facts) => {
    for (const freeze of timed) {
      const change = nextChangeOf(freeze, facts, at);
      const end = freeze.freeze.endsAt?.getTime() ?? Infinity;
      if (change !== null && change < end) next = Math.min(next, change);
    }
  });
  return next > latest ? null : new Date(next);
}
