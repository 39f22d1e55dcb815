import type { ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { matchAll, type MatchResult } from '../conditions/match.ts';
import type { PullRequestFacts } from '../pull-requests/pull-request.ts';
import { freeText, frozenText } from './status-text.ts';

export type StatusState = 'pending' | 'success';

/** What the commit status of a head SHA should say. */
export type Status = { state: StatusState; description: string };

/** A freeze that holds a pull request, and why. */
export type Hold = {
  freeze: ParsedFreeze['freeze'];
  pullRequest: number;
  /** Set where conditions could not be judged, and the pull request is held for that. */
  unjudged: string | null;
};

/**
 * The one status of a head SHA, for all open pull requests that have it: the strictest verdict counts.
 * @param freezes the ongoing ones; none where nothing enforces them.
 * @param pullRequests at least one, all with the same head SHA.
 */
export function decideStatus(freezes: ParsedFreeze[], pullRequests: PullRequestFacts[], now: Date): Status {
  const holds = pullRequests.flatMap((facts) => holdsOf(freezes, facts, now));
  if (holds.length === 0) return { state: 'success', description: freeText };
  return { state: 'pending', description: frozenText(holds, pullRequests.length > 1) };
}

/** The freezes that hold a pull request. Several may: it is frozen while any does, and excludes act per freeze. */
export function holdsOf(freezes: ParsedFreeze[], facts: PullRequestFacts, now: Date): Hold[] {
  return freezes.flatMap(({ freeze, conditions }): Hold[] => {
    const hold = { freeze, pullRequest: facts.number };
    if (!conditions) {
      const unjudged = 'its conditions cannot be read any more';
      return [{ ...hold, unjudged }];
    }
    const matching = matchAll(conditions.matching, facts, now);
    if (matching.match === false) return [];
    const excluded = conditions.exclude.length > 0 ? matchAll(conditions.exclude, facts, now) : null;
    if (excluded?.match === true) return [];
    // Not known fails closed: a match that cannot be judged holds, an exclude that cannot be judged does not free.
    const unknown = matching.match === 'unknown' ? matching : excluded?.match === 'unknown' ? excluded : null;
    return [{ ...hold, unjudged: unknown && whyUnknown(unknown) }];
  });
}

const whyUnknown = (result: MatchResult): string =>
  result.reasons.find((reason) => reason.match === 'unknown')?.why ?? 'a condition could not be judged';
