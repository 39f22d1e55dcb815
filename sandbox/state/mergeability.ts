import { keptBehindBy, mayBypass, requirementsOf } from './branch-rules.ts';
import { mergedWith, stackOf, trunkOf } from './stacks.ts';
import { testMergeOf } from './test-merge.ts';
import type { Account, CommitStatus, PullRequest, Repository } from './model.ts';

export type MergeableState =
  'behind' | 'blocked' | 'clean' | 'dirty' | 'draft' | 'has_hooks' | 'unstable' | 'unknown';

/** The newest status of each context on a SHA. Contexts differ only by more than case. */
export function latestStatuses(repository: Repository, sha: string): CommitStatus[] {
  const latest = new Map<string, CommitStatus>();
  for (const status of repository.statuses.get(sha) ?? []) latest.set(status.context.toLowerCase(), status);
  return [...latest.values()];
}

/** The state of all statuses together, as `GET /commits/{ref}/status` gives it; no status counts as pending. */
export function combinedState(statuses: CommitStatus[]): 'failure' | 'pending' | 'success' {
  if (statuses.some((status) => status.state === 'failure' || status.state === 'error')) return 'failure';
  if (statuses.length === 0 || statuses.some((status) => status.state === 'pending')) return 'pending';
  return 'success';
}

/**
 * The state of each required check of a branch on a SHA, and who requires it. There is no state if nobody posted it, or
 * not the expected App.
 */
export function requiredStates(repository: Repository, branch: string, sha: string) {
  const latest = latestStatuses(repository, sha);
  return requirementsOf(repository, branch).map(({ check: { context, appId }, by }) => {
    const status = latest.find((each) => each.context.toLowerCase() === context.toLowerCase());
    const isForeign = status !== undefined && appId !== null && status.appId !== appId;
    return { context, by, isForeign, state: isForeign ? undefined : status?.state };
  });
}

/**
 * The commit whose statuses decide on a merge. GitHub: "If the test merge commit has a status, the test merge commit
 * must pass. Otherwise, the status of the head commit must pass."
 */
export function decidingSha(pr: PullRequest): string {
  const testMerge = testMergeOf(pr);
  return testMerge && pr.repository.statuses.has(testMerge) ? testMerge : pr.head.sha;
}

/** Why a pull request and those below it in its stack cannot be merged, in the words of GitHub's 405, or null. */
export const mergeBlocker = (pr: PullRequest): string | null =>
  mergedWith(pr).reduce<string | null>((blocker, each) => blocker ?? ownBlocker(each), null);

function ownBlocker(pr: PullRequest): string | null {
  if (pr.state === 'closed') return 'Pull Request is not mergeable';
  if (pr.draft) return 'Pull Request is still a draft';
  if (pr.isConflicting) return 'Pull Request is not mergeable';
  const [first, ...more] = unmetBy(pr);
  if (!first || 'enforceAdmins' in first.by) return first?.text ?? null;
  const ofRulesets = [first, ...more].filter(({ by }) => !('enforceAdmins' in by));
  return ['Repository rule violations found', ...ofRulesets.map(({ text }) => text), ''].join('\n\n');
}

/** All requirements of its base, or of its stack's, that it does not meet, in the words of GitHub's 405. */
export const unmetRequirements = (pr: PullRequest): string[] => unmetBy(pr).map(({ text }) => text);

/** Each requirement that it does not meet, with the protection or the ruleset that has it. */
function unmetBy(pr: PullRequest) {
  const unmet = requiredStates(pr.repository, trunkOf(pr), decidingSha(pr)).flatMap(
    ({ context, state, isForeign, by }) => {
      if (state === 'success') return [];
      const isWrong = state === 'pending' ? 'is pending' : state ? 'is failing' : 'is expected';
      const how = isForeign ? 'was not set by the expected GitHub apps' : isWrong;
      return [{ by, text: `Required status check "${context}" ${how}.` }];
    },
  );
  const by = keptBehindBy(pr);
  return by ? [...unmet, { by, text: 'Head branch is not up to date with the base branch.' }] : unmet;
}

/** Why this person cannot merge it even if they bypass all that they can; null if they can merge it. */
export function bypassBlocker(pr: PullRequest, by: Account): string | null {
  if (pr.state === 'closed' || pr.isConflicting) return 'Pull Request is not mergeable';
  if (stackOf(pr) && mergedWith(pr).length > 1)
    return 'Rules can be bypassed for the bottom of a stack alone.';
  const unmet = requiredStates(pr.repository, trunkOf(pr), decidingSha(pr)).filter(
    ({ state }) => state !== 'success',
  );
  const firm = unmet.find((each) => !mayBypass(pr.repository, each.by, by));
  return firm ? `Required status check "${firm.context}" may not be bypassed by ${by.login}.` : null;
}

/** `mergeable_state` as REST gives it. */
export function mergeableState(pr: PullRequest): MergeableState {
  if (pr.state === 'closed') return 'unknown';
  if (pr.draft) return 'draft';
  if (pr.isConflicting) return 'dirty';
  if (mergeBlocker(pr)) return keptBehindBy(pr) && !mergeBlocker({ ...pr, behind: 0 }) ? 'behind' : 'blocked';
  if (!passesAll(pr)) return 'unstable';
  return pr.repository.hasPreReceiveHooks ? 'has_hooks' : 'clean';
}

/** Whether every status and every check of it passes, required or not. */
function passesAll(pr: PullRequest): boolean {
  const runs = pr.repository.checkRuns.get(pr.head.sha) ?? [];
  return (
    latestStatuses(pr.repository, decidingSha(pr)).every(({ state }) => state === 'success') &&
    runs.every(({ conclusion }) => ['success', 'neutral', 'skipped'].includes(conclusion ?? ''))
  );
}
