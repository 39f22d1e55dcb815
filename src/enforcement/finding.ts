import type { HeldPullRequest } from '../reconcile/held-pull-requests.ts';
import { type Freeze, holdsMerges } from '../freezes/freeze.ts';
import { excludedBranches, onlyBranches } from './touched-branches.ts';

/** What is looked at. */
export const checks = [
  'installation',
  'product',
  'leaking',
  'held',
  'forgotten',
  'branches',
  'required_check',
  'merge_queue',
  'bypass',
  'permissions',
  'events',
  'comments',
  'webhooks',
  'clock',
  'rate_limit',
] as const;

/** `unknown`: Holdfast may not read it, or GitHub did not answer. Never a quiet `ok`. */
export const states = ['ok', 'warning', 'failed', 'unknown'] as const;

export type Finding = {
  check: (typeof checks)[number];
  state: (typeof states)[number];
  /** The one branch that it is about. */
  branch?: string;
  message: string;
  /** What to click or call; null where there is nothing to do. */
  remedy: string | null;
};

/** Those without which no freeze holds. */
const deciding = new Set<Finding['check']>([
  'installation',
  'product',
  'leaking',
  'permissions',
  'required_check',
]);

/**
 * Whether GitHub would refuse to merge what a freeze holds, on every branch: no where one thing is known to be missing,
 * unknown where it may be. This is what "enforced" means everywhere.
 */
export function isEnforced(findings: Finding[]): boolean | 'unknown' {
  const decisive = findings.filter(({ check }) => deciding.has(check));
  if (decisive.some(({ state }) => state === 'failed')) return false;
  return decisive.some(({ state }) => state === 'unknown') ? 'unknown' : true;
}

/**
 * The same of the branches that one freeze can touch, and of the pull requests that it holds.
 * @param findings on the whole repository.
 * @param held what the freeze holds or should hold.
 */
export function isFreezeEnforced(
  findings: Finding[],
  freeze: Pick<Freeze, 'matchingConditions' | 'excludeConditions' | 'holds'>,
  held: HeldPullRequest[],
): boolean | 'unknown' {
  // The findings are about merges: they say nothing of deployments.
  if (!holdsMerges(freeze)) return 'unknown';
  if (held.some(({ notHeld }) => notHeld === 'leaking')) return false;
  const only = onlyBranches(freeze);
  const excluded = excludedBranches(freeze);
  const touches = (branch: string) => !excluded.includes(branch) && (only?.includes(branch) ?? true);
  const enforced = isEnforced(
    findings.filter(({ check, branch }) => check !== 'leaking' && (branch === undefined || touches(branch))),
  );
  const isLookedAt = (name: string) =>
    findings.some(({ check, branch }) => check === 'required_check' && branch === name);
  // Only so many branches are looked at.
  if (enforced === true && only?.some((branch) => touches(branch) && !isLookedAt(branch))) return 'unknown';
  return enforced;
}
