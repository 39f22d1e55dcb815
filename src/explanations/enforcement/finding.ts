import { type Freeze, holdsMerges } from '../../freezes/freeze.ts';
import { excludedBranches, onlyBranches } from '../../freezes/judge-freeze.ts';

/** What we check. */
export const checks = [
  'installation',
  'product',
  'leaking',
  'held',
  'instant_hold',
  'forgotten',
  'branches',
  'required_check',
  'merge_queue',
  'bypass',
  'permissions',
  'events',
  'comments',
  'deployments',
  'roles',
  'webhooks',
  'worker',
  'outgoing_webhooks',
  'clock',
  'rate_limit',
] as const;

/** `unknown`: Holdfast has no permission to read it, or GitHub did not answer. This is never reported as `ok`. */
export const states = ['ok', 'warning', 'failed', 'unknown'] as const;

export type Finding = {
  check: (typeof checks)[number];
  state: (typeof states)[number];
  /** The branch that it is about, if it is about one. */
  branch?: string;
  message: string;
  /** What to click or call; null if there is nothing to do. */
  remedy: string | null;
};

/** Makes the findings of a check. @param branch if they are about one. */
export const findingsOf =
  (check: Finding['check'], branch?: string) =>
  (state: Finding['state'], message: string, remedy: string | null = null): Finding => ({
    check,
    state,
    ...(branch !== undefined && { branch }),
    message,
    remedy,
  });

/**
 * How many of what a freeze should hold GitHub refuses to merge: those into branches that require our check.
 * @param required of the branches of which it is known. @param bases where each of them merges.
 * @returns null if that is not known of all.
 */
export function countRefused(
  required: ReadonlyMap<string, boolean> | undefined,
  bases: (string | null)[],
): number | null {
  const words = bases.map((base) => (base === null ? undefined : required?.get(base)));
  return words.includes(undefined) ? null : words.filter(Boolean).length;
}

/** Whether a branch is known not to require our check. */
export const isUnrequired = (
  required: ReadonlyMap<string, boolean> | undefined,
  base: string | null,
): boolean => base !== null && required?.get(base) === false;

/** The checks that a freeze needs to hold anything. */
const deciding = new Set<Finding['check']>([
  'installation',
  'product',
  'leaking',
  'permissions',
  'required_check',
]);

/**
 * Whether GitHub refuses to merge what a freeze holds, on every branch: no if something is missing, unknown if something
 * may be missing. "Enforced" has this meaning everywhere.
 */
export function isEnforced(findings: Finding[]): boolean | 'unknown' {
  const decisive = findings.filter(({ check }) => deciding.has(check));
  if (decisive.some(({ state }) => state === 'failed')) return false;
  return decisive.some(({ state }) => state === 'unknown') ? 'unknown' : true;
}

/**
 * The same for the branches that one freeze can affect and the pull requests that it holds. Unknown if none of them
 * exists: nothing shows what GitHub requires there.
 * @param report the findings for the whole repository, and the branches that do not exist.
 * @param held what the freeze holds or should hold.
 */
export function isFreezeEnforced(
  { findings, absent }: { findings: Finding[]; absent: string[] },
  freeze: Pick<Freeze, 'matchingConditions' | 'excludeConditions' | 'holds'>,
  held: { notHeld: string | null }[],
): boolean | 'unknown' {
  // The findings are about merges and say nothing about deployments.
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
  const touched = only?.filter(touches) ?? [];
  const isBlind =
    // The number of checked branches is limited.
    touched.some((branch) => !isLookedAt(branch)) ||
    (touched.length > 0 && touched.every((branch) => absent.includes(branch)));
  return enforced === true && isBlind ? 'unknown' : enforced;
}
