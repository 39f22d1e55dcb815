import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { checkFreeze } from '../freezes/check-freeze.ts';
import type { NewFreeze } from '../freezes/create-freeze.ts';
import type { Exemption } from '../exemptions/exemption.ts';
import { openExemptions } from '../exemptions/exemption-store.ts';
import { exemptionFrom, subjectOf } from '../exemptions/judge-exemption.ts';
import { planWindow } from '../freezes/freeze.ts';
import { type Counts, countsOf, type Warning, warningsOf } from '../freezes/freeze-warnings.ts';
import {
  explainFreeze,
  type FreezeReasons,
  type FreezeVerdict,
  judgeFreeze,
} from '../freezes/judge-freeze.ts';
import { limitOpenEnd } from '../freezes/open-end.ts';
import { needsOf, parseFreeze, type ParsedFreeze } from '../freezes/parsed-freeze.ts';
import { nextChangeAmong } from '../reconcile/judge.ts';
import { freezesAreOn } from '../installations/product.ts';
import { type LoadedPullRequest, loadOpenPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { assertWritable, type FoundRepository } from '../installations/find-repository.ts';
import { hideDependencies } from './hide-dependencies.ts';
import { readForExplanation } from './read-for-explanation.ts';

/** What a freeze would do with one open pull request, and why. */
export type Previewed = {
  pullRequest: LoadedPullRequest;
  /** What its conditions say. */
  verdict: FreezeVerdict;
  /** What would let the pull request through all the same. */
  exemption: Exemption | null;
  reasons: FreezeReasons;
};

export type Preview = {
  /** The instant for which the conditions were judged: the start, or now where it has passed. */
  judgedAt: Date;
  /** When time alone would next change the answer; null: not before the end. */
  nextChangeAt: Date | null;
  counts: Counts;
  warnings: Warning[];
  /** The affected ones of this page, by number: all but those that the freeze does not match. */
  affected: Previewed[];
  /** Whether more follow. */
  hasMore: boolean;
};

/**
 * What a new freeze would do with the pull requests that are open now. Nothing is saved.
 * @param page the affected ones with a greater number than `after`.
 * @throws Refusal invalid as for the creation; conflict where the repository cannot be read; unavailable while
 *   GitHub cannot answer.
 */
export async function previewFreeze(
  deps: Deps,
  repository: FoundRepository,
  input: NewFreeze,
  page: { after: number; size: number },
): Promise<Preview> {
  assertWritable(repository);
  const now = nowOf(deps.clock);
  const window = limitOpenEnd(planWindow(input, now), repository.longestOpenEndHours, now);
  const checked = checkFreeze(window, input);
  const { reason, holds } = input;
  const parsed = parseFreeze({ id: '', repositoryId: repository.id, reason, holds, ...checked });
  const judgedAt = checked.startsAt > now ? checked.startsAt : now;
  const open = await readForExplanation(deps, repository, needsOf([parsed]), loadOpenPullRequests);
  const judged = open.map((pullRequest) => judge(parsed, pullRequest, judgedAt));
  const affected = judged
    .filter(({ verdict, pullRequest }) => verdict !== 'not_matched' && pullRequest.facts.number > page.after)
    .sort((one, other) => one.pullRequest.facts.number - other.pullRequest.facts.number);
  const counts = countsOf(judged.map(({ verdict }) => verdict));
  const seen = { counts, open: open.map(({ facts }) => facts), at: judgedAt };
  const shown = affected.slice(0, page.size);
  const numbers = shown.map(({ pullRequest }) => pullRequest.facts.number);
  const exemptions = await openExemptions(deps.db, repository.id, numbers);
  const hide = await hideDependencies(
    deps,
    repository,
    shown.map(({ pullRequest }) => pullRequest.facts),
  );
  return {
    judgedAt,
    nextChangeAt: nextChangeAmong([parsed], seen.open, judgedAt),
    counts,
    warnings: warningsOf(parsed, seen, freezesAreOn(repository.products)),
    affected: shown.map((one) => ({
      ...one,
      exemption:
        one.verdict === 'excluded'
          ? null
          : exemptionFrom(exemptions, subjectOf(one.pullRequest.facts), parsed.freeze.id, judgedAt),
      reasons: hide(explainFreeze(parsed, one.pullRequest.facts, judgedAt.getTime()), one.pullRequest.facts),
    })),
    hasMore: affected.length > page.size,
  };
}

const judge = (parsed: ParsedFreeze, pullRequest: LoadedPullRequest, at: Date) => ({
  pullRequest,
  verdict: judgeFreeze(parsed, pullRequest.facts, at.getTime()),
});
