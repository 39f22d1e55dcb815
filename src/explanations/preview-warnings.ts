import type { AttributeName } from '../conditions/attributes.ts';
import type { Matcher } from '../conditions/match.ts';
import type { FreezeVerdict } from '../freezes/judge-freeze.ts';

export const warningTypes = [
  'matches_nothing',
  'matches_everything',
  'author_controlled_exclude',
  'not_judged',
  'switched_off',
] as const;

export type Warning = { type: (typeof warningTypes)[number]; message: string };

/** How many open pull requests the freeze would do what with. */
export type Counts = { open: number } & Record<FreezeVerdict, number>;

/** What an admin should know before a freeze is saved. */
export function warningsOf(counts: Counts, exclude: Matcher | null, isOn: boolean): Warning[] {
  const warnings: Warning[] = [];
  const held = counts.frozen + counts.unknown;
  if (!isOn) {
    const message = 'Neither merge_protections nor merge_queue is enabled here, so it cannot be created yet.';
    warnings.push({ type: 'switched_off', message });
  }
  if (counts.open === 0) {
    const message = 'There is no open pull request now, so nothing shows whether the conditions are right.';
    warnings.push({ type: 'matches_nothing', message });
  } else if (held === 0) {
    const message = `None of the ${counts.open} open pull requests would be frozen.`;
    warnings.push({ type: 'matches_nothing', message });
  } else if (held === counts.open) {
    const message = `Every open pull request would be frozen (${counts.open}), and none excluded.`;
    warnings.push({ type: 'matches_everything', message });
  }
  if (counts.unknown > 0) {
    const message = `${counts.unknown} could not be judged, and would be held for that.`;
    warnings.push({ type: 'not_judged', message });
  }
  const loose = exclude ? controlledByAuthor(exclude) : null;
  if (loose) {
    const list = loose.map((text) => `\`${text}\``).join(', ');
    const message = `Whoever opens a pull request can get it excluded: ${list} rests on what its author writes. \`label\`, \`author\` and \`base\` do not.`;
    warnings.push({ type: 'author_controlled_exclude', message });
  }
  return warnings;
}

/** What the author of a pull request alone decides. */
const ofTheAuthor: ReadonlySet<AttributeName> = new Set<AttributeName>([
  ...([
    'head',
    'head-repo-full-name',
    'title',
    'body',
    'body-raw',
    'depends-on',
    'commits',
    'draft',
  ] as const),
]);

/** The conditions by which its author alone can meet this one; null where somebody or something else has a say. */
function controlledByAuthor(matcher: Matcher): string[] | null {
  switch (matcher.kind) {
    case 'leaf':
      return ofTheAuthor.has(matcher.leaf.attribute) ? [matcher.leaf.text] : null;
    case 'not':
      return controlledByAuthor(matcher.node);
    default: {
      const inner = matcher.nodes.map(controlledByAuthor);
      const isControlled = matcher.kind === 'and' ? inner.every(Boolean) : inner.some(Boolean);
      return isControlled ? inner.flatMap((texts) => texts ?? []) : null;
    }
  }
}
