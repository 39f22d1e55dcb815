import type { Operator } from './ast.ts';

/** Whether text could be a branch. GitHub's rules in short: no spaces and none of `~ ^ : [ ] \ ? *`. */
export function checkBranch(value: string, operator: Operator): string | null {
  if (operator === '~=') return null;
  // eslint-disable-next-line no-control-regex -- branches have no control characters
  return /[\s~^:[\]\\?*\u0000-\u001f\u007f]/.test(value) ? 'Invalid branch name' : null;
}

/**
 * Whether text could be a login: letters, digits, hyphens, the `_` of managed users and the `[bot]` of bots.
 * A team is refused as a pattern too: no login begins with `@`, so it would never match.
 */
export function checkLogin(value: string, operator: Operator): string | null {
  if (/^@[A-Za-z0-9_/-]+$/.test(value)) return 'Teams are not supported yet: name the logins';
  if (operator === '~=') return null;
  return value === '' || /^[A-Za-z0-9_-]+(\[bot\])?$/.test(value) ? null : 'Invalid GitHub login';
}
