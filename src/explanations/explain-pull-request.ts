import type { FactNeeds } from '../conditions/needs.ts';
import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { openExemptions } from '../freezes/exemptions/exemption-store.ts';
import { holdsMerges } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import {
  explainFreeze,
  type FreezeReasons,
  type FreezeVerdict,
  judgeFreeze,
  needsOf,
  parseStoredFreeze,
  type ParsedFreeze,
} from '../freezes/judge-freeze.ts';
import {
  decideHead,
  hidingAmong,
  nextChangeAmong,
  shasOf,
  type Standards,
  weighTogether,
} from '../statuses/judge.ts';
import type { Hold, Pass, Status } from '../statuses/status.ts';
import { greatestNumber } from '../github/pull-requests/pull-request.ts';
import { askGitHub } from '../github/ask-github.ts';
import { freezesAreOn } from '../installations/product.ts';
import {
  type LoadedPullRequest,
  type LoadFrom,
  loadPullRequest,
  loadPullRequestNodes,
} from '../github/pull-requests/load-pull-requests.ts';
import { stackedWith, stacksOf } from '../github/pull-requests/stacks.ts';
import { findSharers } from '../statuses/open-pull-request-store.ts';
import { type FoundRepository, fullName, suspended } from '../installations/find-repository.ts';
import { hideDependencies } from './hide-dependencies.ts';
import { type ReleasingLabels, releasingLabels } from './releasing-labels.ts';

/** The verdict of an ongoing freeze on a pull request, with its reasons. */
export type Explained = {
  freeze: ParsedFreeze['freeze'];
  /** The verdict of its conditions. */
  verdict: FreezeVerdict;
  /** The exemption from this freeze, if any. */
  pass: Pass | null;
  reasons: FreezeReasons;
  releasing: ReleasingLabels;
};

export type PullRequestExplanation = {
  pullRequest: LoadedPullRequest;
  /**
   * Whether it is held now, by its own freezes or through another pull request: one with the same head or test merge
   * commit, or one below it in its stack.
   */
  isFrozen: boolean;
  /** The wanted status of its head SHA; null if it is not open. */
  status: Status | null;
  freezes: Explained[];
  /** The freezes that hold it through other open pull requests. */
  sharedHolds: Hold[];
  nextChangeAt: Date | null;
};

/**
 * Explains what holds a pull request now, why, and until when.
 * @throws Refusal not-found if the pull request does not exist; conflict while the installation is suspended;
 *   unavailable while GitHub does not answer.
 */
export async function explainPullRequest(
  deps: Deps,
  repository: FoundRepository,
  number: bigint,
): Promise<PullRequestExplanation> {
  const absent = notFound(`${fullName(repository)} has no pull request ${number}.`);
  if (number > greatestNumber) throw absent;
  if (repository.installation.suspendedAt) throw suspended(repository.account.login);
  const now = nowOf(deps.clock);
  const all = freezesAreOn(repository.products) ? await listFreezes(deps.sql, repository, now) : [];
  const freezes = all
    .filter((freeze) => holdsMerges(freeze) && phaseOf(freeze, now) === 'ongoing')
    .map(parseStoredFreeze);
  const read = await readForExplanation(deps, repository, needsOf(freezes), (from) =>
    readWithSiblings(from, Number(number)),
  );
  if (!read) throw absent;
  const { pullRequest, siblings, below } = read;
  const { facts, isOpen } = pullRequest;
  const sharing = [facts, ...siblings.map((sibling) => sibling.facts)];
  const hide = await hideDependencies(deps, repository, [facts]);
  const judged = [...sharing, ...below.map((each) => each.facts)];
  const numbers = judged.map((each) => each.number);
  const exemptions = await openExemptions(deps.db, repository.id, numbers);
  const standards: Standards = { freezes, exemptions, hiding: hidingAmong(all), observedAt: now };
  const weighed = weighTogether(standards, judged);
  const { passes } = weighed[0]!;
  const holds = isOpen ? weighed.slice(0, sharing.length).flatMap((each) => each.holds) : [];
  const hasHead = (index: number) => index === 0 || shasOf(siblings[index - 1]!).includes(facts.headSha);
  const sharingHead = weighed.slice(0, sharing.length).filter((_, index) => hasHead(index));
  return {
    pullRequest,
    isFrozen: holds.length > 0,
    status: isOpen ? decideHead(sharingHead) : null,
    freezes: freezes.map((parsed) => ({
      freeze: parsed.freeze,
      verdict: judgeFreeze(parsed, facts, now.getTime()),
      pass: passes.find(({ freeze }) => freeze === parsed.freeze) ?? null,
      reasons: hide(explainFreeze(parsed, facts, now.getTime()), facts),
      releasing: releasingLabels(parsed, facts, now.getTime()),
    })),
    sharedHolds: holds.filter((hold) => hold.pullRequest !== facts.number),
    nextChangeAt: earliestOf([
      nextChangeAmong(freezes, judged, now),
      ...passes.map(({ exemption }) => exemption.expiresAt),
    ]),
  };
}

/**
 * Reads pull requests from GitHub for a person who waits. Ignores a pause of the installation: most pauses are about
 * writing statuses, and GitHub refuses if it will not answer.
 * @throws Refusal unavailable while GitHub does not answer.
 */
export async function readForExplanation<Answer>(
  deps: Deps,
  repository: FoundRepository,
  needs: FactNeeds,
  read: (from: LoadFrom) => Promise<Answer>,
): Promise<Answer> {
  return askGitHub(
    deps,
    repository.installation.id,
    `which pull requests ${fullName(repository)} has`,
    async () => {
      const { id, permissions } = repository.installation;
      const client = await deps.github.asInstallation(id, permissions);
      return read({ deps, client, repository, needs, stacks: stacksOf(repository) });
    },
  );
}

/** The numbers of the held pull requests below it in its stack. */
export const heldBelow = ({ sharedHolds }: Pick<PullRequestExplanation, 'sharedHolds'>): number[] => [
  ...new Set(sharedHolds.flatMap((hold) => (hold.isBelow ? hold.pullRequest : []))),
];

const earliestOf = (instants: (Date | null)[]): Date | null =>
  instants.reduce((one, other) => (one && (!other || one <= other) ? one : other), null);

/** How many pull requests GitHub returns for one question. */
const mostNodes = 100;

/** The pull request, and the open ones that share its head or test merge commit, or are below it in its stack. */
async function readWithSiblings(
  from: LoadFrom,
  number: number,
): Promise<(Record<'siblings' | 'below', LoadedPullRequest[]> & { pullRequest: LoadedPullRequest }) | null> {
  const pullRequest = await loadPullRequest(from, number);
  if (!pullRequest) return null;
  const shas = new Set(shasOf(pullRequest));
  const { stack } = pullRequest.facts;
  const numbers = stackedWith(from.stacks, [number]);
  const about = { number, numbers, shas: [...shas], merges: pullRequest.headMerges };
  const known = await findSharers(from.deps.sql, from.repository.id, about);
  const nodeIds = known.slice(0, mostNodes).map(({ nodeId }) => nodeId);
  const others = nodeIds.length > 0 ? await loadPullRequestNodes(from, nodeIds) : [];
  const open = others.filter(({ isOpen }) => isOpen);
  const shares = (one: LoadedPullRequest) => shasOf(one).some((sha) => shas.has(sha));
  const isBelow = ({ facts }: LoadedPullRequest) =>
    stack && facts.stack?.number === stack.number && facts.stack.position < stack.position;
  return {
    pullRequest,
    siblings: open.filter(shares),
    below: open.filter((one) => isBelow(one) && !shares(one)),
  };
}
