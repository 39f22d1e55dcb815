// `explanations/` answers why a pull request is blocked, what a freeze would do, and whether GitHub enforces it. It
// reads GitHub and our tables, and saves nothing.
import type { FactNeeds } from '../conditions/needs.ts';
import { nowOf } from '../time/clock.ts';
import { mapAtOnce } from '../time/slices.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { openExemptions } from '../exemptions/exemption-store.ts';
import { holdsMerges } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import {
  explainFreeze,
  type FreezeReasons,
  type FreezeVerdict,
  judgeFreeze,
  needsOf,
  parseStoredFreezes,
  type ParsedFreeze,
  type ReleasingLabels,
  releasingLabels,
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
import type { ConditionFacts } from '../conditions/attributes.ts';
import type { ConditionReason } from '../conditions/explain.ts';

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

/** A pull request, and the open ones that share its head or test merge commit, or are below it in its stack. */
export type ReadPullRequest = Record<'siblings' | 'below', LoadedPullRequest[]> & {
  pullRequest: LoadedPullRequest;
};

/** Gives what `read` reads from GitHub, now or lately; null: there is no such pull request. */
export type ReadLately = (
  needs: FactNeeds,
  read: () => Promise<ReadPullRequest | null>,
) => Promise<ReadPullRequest | null>;

/**
 * Explains what holds a pull request now, why, and until when.
 * @param lately if what GitHub said lately is good enough. What we know ourselves is always of now.
 * @throws Refusal not-found if the pull request does not exist; conflict while the installation is suspended;
 *   unavailable while GitHub does not answer.
 */
export async function explainPullRequest(
  deps: Deps,
  repository: FoundRepository,
  number: bigint,
  lately: ReadLately = (_, read) => read(),
): Promise<PullRequestExplanation> {
  const absent = notFound(`${fullName(repository)} has no pull request ${number}.`);
  if (number > greatestNumber) throw absent;
  if (repository.installation.suspendedAt) throw suspended(repository.account.login);
  const now = nowOf(deps.clock);
  const all = freezesAreOn(repository.products) ? await listFreezes(deps.sql, repository, now) : [];
  const freezes = await parseStoredFreezes(
    all.filter((freeze) => holdsMerges(freeze) && phaseOf(freeze, now) === 'ongoing'),
  );
  const needs = needsOf(freezes);
  const read = await lately(needs, () =>
    readForExplanation(deps, repository, needs, (from) => readWithSiblings(from, Number(number))),
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
  const releasing = new Map<ParsedFreeze, ReleasingLabels>();
  for (const parsed of freezes) releasing.set(parsed, await releasingLabels(parsed, facts, now.getTime()));
  const explained = await mapAtOnce(freezes, (parsed) => ({
    freeze: parsed.freeze,
    verdict: judgeFreeze(parsed, facts, now.getTime()),
    pass: passes.find(({ freeze }) => freeze === parsed.freeze) ?? null,
    reasons: hide(explainFreeze(parsed, facts, now.getTime()), facts),
    releasing: releasing.get(parsed)!,
  }));
  return {
    pullRequest,
    isFrozen: holds.length > 0,
    status: isOpen ? decideHead(sharingHead) : null,
    freezes: explained,
    sharedHolds: holds.filter((hold) => hold.pullRequest !== facts.number),
    nextChangeAt: earliestOf([
      await nextChangeAmong(freezes, judged, now),
      // With the end of its freeze, the end of an exemption changes nothing any more.
      ...passes.flatMap(({ freeze: { endsAt }, exemption: { expiresAt } }) =>
        endsAt && endsAt <= expiresAt ? [] : expiresAt,
      ),
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

async function readWithSiblings(from: LoadFrom, number: number): Promise<ReadPullRequest | null> {
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

/** Removes from reasons what they reveal about pull requests that the reader may not see. */
type HideDependencies = (reasons: FreezeReasons, facts: ConditionFacts) => FreezeReasons;

/**
 * A description can name pull requests of any repository, and `depends-on` reveals whether they are merged. Readers of
 * this repository may not have access to the others, so we only show those of public repositories.
 * @param all the facts whose reasons are shown.
 */
export async function hideDependencies(
  deps: Pick<Deps, 'db'>,
  repository: FoundRepository,
  all: ConditionFacts[],
): Promise<HideDependencies> {
  const own = fullName(repository).toLowerCase();
  const others = new Set(
    all
      .flatMap(dependenciesOf)
      .map(repositoryOf)
      .filter((name) => name !== own),
  );
  const shown = new Set([own, ...(await publicAmong(deps, [...others]))]);
  const isShown = (name: string) => shown.has(repositoryOf(name));
  return (reasons, facts) => {
    const visible = dependenciesOf(facts).filter(isShown);
    if (visible.length === dependenciesOf(facts).length) return reasons;
    const hide = (reason: ConditionReason): ConditionReason =>
      isAboutDependencies.test(reason.condition) && reason.saw ? hiddenReason(reason, visible) : reason;
    return { matching: reasons.matching.map(hide), exclude: reasons.exclude.map(hide) };
  };
}

/** Matches `depends-on` in conditions, with `-` or `#` before it. */
const isAboutDependencies = /^\W*depends-on\b/;

/** A count would reveal the others too. */
function hiddenReason(reason: ConditionReason, visible: string[]): ConditionReason {
  if (typeof reason.saw?.[0] === 'number') return { ...reason, saw: null };
  const saw = reason.saw!.filter((name) => visible.includes(String(name)));
  return { ...reason, saw, more: visible.length - saw.length };
}

const dependenciesOf = ({ values }: ConditionFacts): string[] =>
  (values['depends-on'] as string[] | undefined) ?? [];

const repositoryOf = (name: string): string => name.slice(0, name.lastIndexOf('#')).toLowerCase();

async function publicAmong({ db }: Pick<Deps, 'db'>, names: string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await db.repository.findMany({
    where: {
      private: false,
      OR: names.map((name) => {
        const [loginKey = '', nameKey = ''] = name.split('/');
        return { nameKey, account: { loginKey } };
      }),
    },
    include: { account: true },
  });
  return rows.map((row) => `${row.account.loginKey}/${row.nameKey}`);
}
