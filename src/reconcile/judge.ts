import { createHash } from 'node:crypto';
import type { Exemption } from '../exemptions/exemption.ts';
import { coversFreeze, exemptionFrom, subjectOf, wasExemptFrom } from '../exemptions/judge-exemption.ts';
import type { Freeze } from '../freezes/freeze.ts';
import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { judgeFreeze, nextChangeOf, whyUnknown } from '../freezes/judge-freeze.ts';
import type { LoadedPullRequest } from '../github/pull-requests/load-pull-requests.ts';
import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import { asOpen, type PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import {
  exemptText,
  freeGroupText,
  freeText,
  frozenText,
  type Hold,
  type Pass,
  type Status,
} from '../outbox/status.ts';
import { closedUrgency, returningFirst, urgencyOf } from '../outbox/urgency.ts';

/** What pull requests are judged by. */
export type Standards = {
  /** The ongoing freezes. */
  freezes: ParsedFreeze[];
  /** Also those that ended lately. */
  exemptions: Exemption[];
  /** The ids of all freezes that are not over and have a public reason. */
  hiding: string[];
  observedAt: Date;
};

/** What the status of a SHA should say, and what it was decided by. */
export type Verdict = {
  sha: string;
  status: Status;
  holds: Hold[];
  present: PresentStatus;
  /** The smallest is written first. */
  urgency: number;
  /** The closed pull request whose head it is; absent where an open one has it. */
  closedNumber?: number;
};

/** What freezes do with a pull request: what holds it, and what would but for an exemption. */
export type Weighed = { holds: Hold[]; passes: Pass[] };

/** What holds an open pull request. */
export type Judged = { pullRequest: LoadedPullRequest } & Weighed;

/** What freezes do with pull requests, and the status of each of their SHAs. */
export type Judgement = { judged: Judged[]; verdicts: Verdict[]; nextChangeAt: Date | null };

/**
 * Judges open pull requests, each once. The status of a SHA is for all whose head or test merge commit it is. A test
 * merge commit that is nobody's head is left alone while it shows no status of ours: with one, GitHub would ask for
 * it there as well.
 */
export function judge(standards: Standards, pullRequests: LoadedPullRequest[]): Judgement {
  const { freezes, observedAt } = standards;
  // A thousand pull requests are not each compared with every exemption.
  const byNumber = Map.groupBy(standards.exemptions, (exemption) => exemption.pullRequest);
  const judged = pullRequests.map((pullRequest) => {
    const exemptions = byNumber.get(pullRequest.facts.number) ?? [];
    return { pullRequest, ...weigh({ ...standards, exemptions }, pullRequest.facts) };
  });
  const bySha = Map.groupBy(judged.flatMap(commitsOf), ({ sha }) => sha);
  const verdicts = [...bySha].flatMap(([sha, commits]): Verdict[] => {
    const present = newestOf(commits.map(({ status }) => status));
    if (!present && !commits.some(({ isHead }) => isHead)) return [];
    const holds = commits.flatMap((commit) => commit.holds);
    const passes = commits.flatMap((commit) => commit.passes);
    const status = statusFor({ holds, passes }, commits.length > 1);
    const sharing = commits.map(({ pullRequest }) => pullRequest);
    const isReturning = commits.some(({ holds: own, pullRequest: { facts } }) =>
      own.some(({ freeze }) => wasExemptFrom(byNumber.get(facts.number) ?? [], subjectOf(facts), freeze.id)),
    );
    const urgency = returningFirst(urgencyOf(status, present, sharing), status, present, isReturning);
    return [{ sha, status, holds, present, urgency }];
  });
  const facts = pullRequests.map((pullRequest) => pullRequest.facts);
  return { judged, verdicts, nextChangeAt: nextChangeAmong(freezes, facts, observedAt) };
}

/** The commits whose statuses decide whether GitHub merges a pull request. */
function commitsOf(judged: Judged) {
  const { facts, status, testMerge } = judged.pullRequest;
  const head = { ...judged, sha: facts.headSha, status, isHead: true };
  return testMerge ? [head, { ...judged, ...testMerge, isHead: false }] : [head];
}

/** Pull requests that share a commit may have been read one after another. */
const newestOf = (statuses: PresentStatus[]): PresentStatus =>
  statuses.reduce((one, other) => (one && (!other || one.at >= other.at) ? one : other), null);

/** The SHAs of a pull request that others may share. */
export const shasOf = ({ facts, testMerge }: LoadedPullRequest): string[] =>
  testMerge ? [facts.headSha, testMerge.sha] : [facts.headSha];

/**
 * What the verdicts on closed pull requests depend on: which freezes are ongoing, and their conditions.
 * @returns a digest; empty where there are none.
 */
export function judgedBy(freezes: ParsedFreeze[]): string {
  if (freezes.length === 0) return '';
  const all = freezes.map(({ freeze }) => [freeze.id, freeze.matchingConditions, freeze.excludeConditions]);
  return createHash('sha256').update(JSON.stringify(all.toSorted())).digest('base64url');
}

/** Pull requests that were closed longer ago are left alone. Milliseconds. */
const longestAgo = 30 * 86_400_000;

/** Pull requests that were closed before this instant are left alone. */
export const closedSince = (observedAt: Date): Date => new Date(observedAt.getTime() - longestAgo);

/**
 * Which heads of closed pull requests are to be held, as if they were open: one that is opened again, or a second one
 * that is opened on the same head, could be merged by an old success in the moment before our answer. A head without a
 * status of ours, such as one that we never saw open, blocks as it is. Exemptions do not count: they let one pull
 * request through, and who opens another one on its head must not find the success.
 */
export function judgeClosed({ freezes, observedAt }: Standards, closed: LoadedPullRequest[]): Verdict[] {
  const bySha = Map.groupBy(
    closed.filter(mayBeOpenedAgain(closedSince(observedAt))),
    ({ facts }) => facts.headSha,
  );
  return [...bySha].flatMap(([sha, sharing]): Verdict[] => {
    const holds = sharing.flatMap(({ facts }) => holdsOf(freezes, asOpen(facts), observedAt));
    const present = sharing[0]!.status;
    if (holds.length === 0 || !present) return [];
    const wanted = statusFor({ holds, passes: [] }, sharing.length > 1);
    // Another text is not worth a write.
    const status = present.state === wanted.state ? { ...wanted, description: present.description } : wanted;
    return [{ sha, status, holds, present, urgency: closedUrgency, closedNumber: holds[0]!.pullRequest }];
  });
}

const mayBeOpenedAgain =
  (since: Date) =>
  ({ isOpen, facts: { values } }: LoadedPullRequest): boolean =>
    !isOpen && values.merged !== true && Number(values['closed-at'] ?? 0) >= since.getTime();

/**
 * The one status of a head SHA, for all open pull requests that have it: the strictest verdict counts.
 * @param standards with the ongoing freezes; none where they are switched off.
 * @param pullRequests at least one, all with the same head SHA.
 * @returns also what holds them.
 */
export function decideHead(
  standards: Standards,
  pullRequests: PullRequestFacts[],
): { status: Status; holds: Hold[] } {
  const weighed = weighAll(standards, pullRequests);
  return { status: statusFor(weighed, pullRequests.length > 1), holds: weighed.holds };
}

function statusFor({ holds, passes }: Weighed, isShared: boolean): Status {
  if (holds.length > 0) return { state: 'pending', description: frozenText(holds, isShared) };
  const description = passes.length > 0 ? exemptText(passes, isShared) : freeText;
  return { state: 'success', description };
}

/** Before the queue's time-out, so that the success of a freeze that ends is there in time. Milliseconds. */
export const groupMargin = 60_000;

/**
 * The status of a merge group, for all that it merges. A held group keeps its place only where every freeze ends
 * before the queue stops waiting for our answer; otherwise it fails, and GitHub builds the groups behind it anew.
 * @param timesOutAt when the queue takes a missing answer for a failure.
 */
export function decideGroup(
  standards: Standards,
  pullRequests: PullRequestFacts[],
  timesOutAt: Date,
): { status: Status; holds: Hold[] } {
  const { holds } = weighAll(standards, pullRequests);
  if (holds.length === 0) return { status: { state: 'success', description: freeGroupText }, holds };
  const endsInTime = ({ freeze }: Hold) =>
    freeze.endsAt !== null && freeze.endsAt.getTime() < timesOutAt.getTime() - groupMargin;
  const state = holds.every(endsInTime) ? 'pending' : 'failure';
  return { status: { state, description: frozenText(holds, true) }, holds };
}

/** What freezes do with a pull request: an exemption frees it of those that it covers, and of no other. */
export function weigh(
  { freezes, exemptions, hiding, observedAt }: Standards,
  facts: PullRequestFacts,
): Weighed {
  const weighed: Weighed = { holds: [], passes: [] };
  for (const hold of holdsOf(freezes, facts, observedAt)) {
    const { freeze, pullRequest } = hold;
    const exemption = exemptionFrom(exemptions, subjectOf(facts), freeze.id, observedAt);
    if (!exemption) weighed.holds.push(hold);
    else {
      const isReasonHidden = hiding.some((id) => coversFreeze(exemption, id));
      weighed.passes.push({ freeze, pullRequest, exemption, isReasonHidden });
    }
  }
  return weighed;
}

/** Those of the freezes that are not over which hide their reason: of an exemption that covers one, only a public reason is for everybody. */
export const hidingAmong = (freezes: Pick<Freeze, 'id' | 'publicReason'>[]): string[] =>
  freezes.flatMap(({ id, publicReason }) => (typeof publicReason === 'string' ? [id] : []));

function weighAll(standards: Standards, pullRequests: PullRequestFacts[]): Weighed {
  const all = pullRequests.map((facts) => weigh(standards, facts));
  return { holds: all.flatMap(({ holds }) => holds), passes: all.flatMap(({ passes }) => passes) };
}

/**
 * The freezes that select a pull request. Several may: it is frozen while any does, and excludes act per freeze.
 * Exemptions are not asked: `weigh` does.
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

/** Nobody waits for it, and PostgreSQL writes later years in another way. */
const latest = Date.parse('9999-12-30T00:00:00Z');

/** When time alone could next change what these freezes do with these pull requests; null: not before a boundary. */
export function nextChangeAmong(
  freezes: ParsedFreeze[],
  pullRequests: PullRequestFacts[],
  now: Date,
): Date | null {
  const at = now.getTime();
  const timed = freezes.filter(({ conditions }) => conditions?.isTimed);
  let next = Infinity;
  for (const freeze of timed) {
    const end = freeze.freeze.endsAt?.getTime() ?? Infinity;
    for (const facts of pullRequests) {
      const change = nextChangeOf(freeze, facts, at);
      if (change !== null && change < end) next = Math.min(next, change);
    }
  }
  return next > latest ? null : new Date(next);
}
