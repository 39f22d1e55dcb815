/** A commit with our status on it. */
export type CommitStatusAnswer = {
  oid: string;
  status?: { context: { state: string; description: string | null; createdAt: string } | null } | null;
};

/** What a question asks about a commit; `$context` is ours. */
export const withOwnStatus = 'oid status { context(name: $context) { state description createdAt } }';

/** Our status on a commit, in REST's words, with its time by GitHub's clock; null if there is none. */
export type PresentStatus = { state: string; description: string; at: Date } | null;

export function statusIn({ status }: CommitStatusAnswer): PresentStatus {
  const context = status?.context;
  if (!context) return null;
  const { state, description, createdAt } = context;
  return { state: state.toLowerCase(), description: description ?? '', at: new Date(createdAt) };
}
