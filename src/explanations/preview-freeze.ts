import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { checkFreeze } from '../freezes/check-freeze.ts';
import { holdsMerges, type NewFreeze } from '../freezes/freeze.ts';
import type { Exemption } from '../freezes/exemptions/exemption.ts';
import { openExemptions } from '../freezes/exemptions/exemption-store.ts';
import { exemptionFrom, subjectOf } from '../freezes/exemptions/judge-exemption.ts';
import { planWindow, limitOpenEnd } from '../freezes/freeze-window.ts';
import {
  type Counts,
  countsOf,
  type Warning,
  warningsOf,
  warningsOfDeployments,
} from '../freezes/freeze-warnings.ts';
import {
  explainFreeze,
  type FreezeReasons,
  type FreezeVerdict,
  judgeFreeze,
  needsOf,
  parseFreeze,
} from '../freezes/judge-freeze.ts';
import { nextChangeAmong } from '../statuses/judge.ts';
import { freezesAreOn } from '../installations/product.ts';
import { type LoadedPullRequest, loadOpenPullRequests } from '../github/pull-requests/load-pull-requests.ts';
import { assertWritable, type FoundRepository } from '../installations/find-repository.ts';
import { selectedAmong, type TimeUntilHeld } from '../statuses/instant-hold/hold.ts';
import { hideDependencies } from './hide-dependencies.ts';
import { foreseeTime } from './look-ahead.ts';
import { readForExplanation } from './explain-pull-request.ts';

/** The verdict of a freeze on one open pull request, with its reasons. */
export type Previewed = {
  pullRequest: LoadedPullRequest;
  /** The verdict of its conditions. */
  verdict: FreezeVerdict;
  /** The exemption from the freeze, if any. */
  exemption: Exemption | null;
  reasons: FreezeReasons;
};

export type Preview = {
  /** The instant of the verdicts: the start, or now if the start has passed. */
  judgedAt: Date;
  /** When time alone next changes the answer; null if not before the end. */
  nextChangeAt: Date | null;
  counts: Counts;
  warnings: Warning[];
  /** How long it takes until everything is blocked; null if nothing is. */
  timeUntilHeld: TimeUntilHeld | null;
  /** The affected pull requests of this page, by number: all that match the freeze. */
  affected: Previewed[];
  /** Whether more follow. */
  hasMore: boolean;
};

/**
 * Previews a new freeze on the open pull requests. Saves nothing.
 * @param page the affected pull requests with a number greater than `after`.
 * @throws Refusal invalid as for the creation; conflict if the repository cannot be read; unavailable while GitHub does
 *   not answer.
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
  const judged = open.map((pullRequest) => ({
    pullRequest,
    verdict: judgeFreeze(parsed, pullRequest.facts, judgedAt.getTime()),
  }));
  const affected = judged
    .filter(({ verdict, pullRequest }) => verdict !== 'not_matched' && pullRequest.facts.number > page.after)
    .sort((one, other) => one.pullRequest.facts.number - other.pullRequest.facts.number);
  const counts = countsOf(judged.map(({ verdict }) => verdict));
  const seen = { counts, open: open.map(({ facts }) => facts), at: judgedAt };
  const isOn = freezesAreOn(repository.products);
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
    warnings: [
      ...warningsOf(parsed, seen, isOn),
      ...warningsOfDeployments(input, [checked], repository.installation.permissions),
    ],
    timeUntilHeld:
      isOn && holdsMerges(parsed.freeze)
        ? await foreseeTime(deps, repository.installation.id, [
            { ...selectedAmong(parsed, seen.open, judgedAt), id: repository.id, name: repository.name },
          ])
        : null,
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
