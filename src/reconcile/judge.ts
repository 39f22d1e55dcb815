import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { judgeFreeze, nextChangeOf, whyUnknown } from '../freezes/judge-freeze.ts';
import type { PullRequestFacts } from '../github/pull-requests/pull-request.ts';
import { freeGroupText, freeText, frozenText, type Hold, type Status } from '../outbox/status.ts';

/**
 * The one status of a head SHA, for all open pull requests that have it: the strictest verdict counts.
 * @param freezes the ongoing ones; none where they are switched off.
 * @param pullRequests at least one, all with the same head SHA.
 * @returns also what holds them.
 */
export function decideHead(
  freezes: ParsedFreeze[],
  pullRequests: PullRequestFacts[],
  now: Date,
): { status: Status; holds: Hold[] } {
  const holds = pullRequests.flatMap((facts) => holdsOf(freezes, facts, now));
  const status: Status =
    holds.length === 0
      ? { state: 'success', description: freeText }
      : { state: 'pending', description: frozenText(holds, pullRequests.length > 1) };
  return { status, holds };
}

/** Before the queue's time-out, so that the success of a freeze that ends is there in time. Milliseconds. */
export const groupMargin = 60_000;

/**
 * The status of a merge group, for all that it merges. A held group keeps its place only where every freeze ends
 * before the queue stops waiting for our answer; otherwise it fails, and GitHub builds the groups behind it anew.
 * @param timesOutAt when the queue takes a missing answer for a failure.
 */
export function decideGroup(
  freezes: ParsedFreeze[],
  pullRequests: PullRequestFacts[],
  timesOutAt: Date,
  now: Date,
): { status: Status; holds: Hold[] } {
  const holds = pullRequests.flatMap((facts) => holdsOf(freezes, facts, now));
  if (holds.length === 0) return { status: { state: 'success', description: freeGroupText }, holds };
  const endsInTime = ({ freeze }: Hold) =>
    freeze.endsAt !== null && freeze.endsAt.getTime() < timesOutAt.getTime() - groupMargin;
  const state = holds.every(endsInTime) ? 'pending' : 'failure';
  return { status: { state, description: frozenText(holds, true) }, holds };
}

export const decideStatus = (...head: Parameters<typeof decideHead>): Status => decideHead(...head).status;

/** The freezes that hold a pull request. Several may: it is frozen while any does, and excludes act per freeze. */
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
