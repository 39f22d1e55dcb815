/** What is looked at. */
export const checks = [
  'installation',
  'product',
  'branches',
  'required_check',
  'merge_queue',
  'bypass',
  'permissions',
  'events',
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
const deciding = new Set<Finding['check']>(['installation', 'product', 'permissions', 'required_check']);

/** Whether freezes hold on every branch: no where one thing is known to be missing, unknown where it may be. */
export function isEnforced(findings: Finding[]): boolean | 'unknown' {
  const decisive = findings.filter(({ check }) => deciding.has(check));
  if (decisive.some(({ state }) => state === 'failed')) return false;
  return decisive.some(({ state }) => state === 'unknown') ? 'unknown' : true;
}
