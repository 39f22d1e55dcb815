import type { Comparison } from './ast.ts';
import type { AttributeType, ValueRule } from './attributes/attribute.ts';

const authorTemplate = /\{\{\s*author\s*\}\}/g;

/**
 * The problem with a value for the attribute that it is compared with; null if it is possible.
 * @param subject the kind of value. Does not check the patterns of `~=` and `*=`.
 */
export function checkValue(
  { rule, type, name }: { rule: ValueRule; type: AttributeType; name: string },
  operator: Comparison,
  value: string,
): string | null {
  // Any other template would count as plain text and never match.
  const other = /\{\{\s*(?!author\s*\}\})[a-z][\w.-]*\s*\}\}/i.exec(value);
  if (other) return `Only \`{{ author }}\` can stand in a condition, not \`${other[0].slice(0, 40)}\``;
  const sample = value.replace(authorTemplate, 'author');
  if (type === 'choice' && Array.isArray(rule)) {
    const list = (rule as string[]).map((each) => `\`${each}\``).join(', ');
    return rule.includes(sample) ? null : `\`${name}\` is one of ${list}`;
  }
  switch (rule) {
    case 'branch':
      return checkBranch(sample);
    case 'login':
      return checkLogin(sample, operator);
    case 'check':
      return !sample.startsWith('@') || /^@[\w-]+\/./.test(sample)
        ? null
        : 'Invalid check. Write its name, or `@app-slug/name` for the one of an App';
    case 'pull request':
      return /^[\w.-]+\/[\w.-]+#\d+$/.test(sample)
        ? null
        : 'Invalid pull request. Write `owner/repository#number`';
    default:
      return null;
  }
}

/** GitHub's rules in short: no spaces and none of `~ ^ : [ ] \ ? *`. */
function checkBranch(value: string): string | null {
  // eslint-disable-next-line no-control-regex -- branches have no control characters
  if (!/[\s~^:[\]\\?*\u0000-\u001f\u007f]/.test(value)) return null;
  const advice = /[?*]/.test(value) ? ' For a glob use `*=`' : ' For a regular expression use `~=`';
  return `Invalid branch name.${advice}`;
}

/** A login with letters, digits, hyphens, the `_` of managed users and the `[bot]` of bots; or a team. */
function checkLogin(value: string, operator: Comparison): string | null {
  if (/^@[\w.-]+(\/[\w.-]+)?$/.test(value)) {
    return operator === '=' || operator === '!=' ? null : 'A team is compared with `=` or `!=`';
  }
  return value === '' || /^[A-Za-z0-9_-]+(\[bot\])?$/.test(value)
    ? null
    : 'Invalid GitHub login. Write a login such as `mona` or `dependabot[bot]`, or a team such as `@org/team`';
}
