import { conclusionOf, rowsOf } from '../scopes/describe-scopes.ts';
import type { DiffScopes } from '../scopes/diff-scopes.ts';
import { onOneLine } from '../terminal/printable.ts';

/** What Holdfast says about the branch that the pull request merges into. */
export type BranchState = { frozen: boolean; next_transition_at: string | null; enforced: string };

/**
 * The summary of a run: which scopes, by which paths, and whether a freeze is on.
 * @param page of the pull request at Holdfast; null if there is none.
 */
export function summaryOf(
  found: DiffScopes,
  isPushed: boolean,
  page: string | null,
  state: BranchState | null,
): string {
  const rows = rowsOf(found).map((row) => `<tr>${row.map((cell) => `<td>${code(cell)}</td>`).join('')}</tr>`);
  const table = `<table><tr><th>Scope</th><th>Touched by</th></tr>${rows.join('')}</table>`;
  return [
    '### Scopes',
    `<p>${html(conclusionOf(found, isPushed))}</p>`,
    ...(rows.length > 0 ? [table] : []),
    ...(state ? [stateOf(state)] : []),
    ...(page ? [`[See what holds this pull request](${page})`] : []),
  ].join('\n\n');
}

/** A freeze may hold this pull request or not. Its page says that. */
function stateOf({ frozen, next_transition_at: next, enforced }: BranchState): string {
  if (!frozen) return `No freeze is on for its base branch${next ? ` until ${next}` : ''}.`;
  const warning = enforced === 'no' ? ' GitHub does not require the status of Holdfast there.' : '';
  return `**A freeze is on for its base branch${next ? ` until ${next}` : ''}.**${warning}`;
}

/** People choose the names of files and scopes, so the summary shows them as text on one line. */
const code = (text: string): string => `<code>${html(text)}</code>`;

const html = (text: string): string =>
  onOneLine(text).replace(/[&<>"'`|[\]*_~@#:\\]/g, (each) => `&#${each.codePointAt(0)};`);
