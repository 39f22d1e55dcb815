import type { CommitStatusAnswer } from '../queries/answers.ts';

/** Our status on a commit, in REST's words, with its time by GitHub's clock; null if there is none. */
export type PresentStatus = { state: string; description: string; at: Date } | null;

export function statusIn({ status }: CommitStatusAnswer): PresentStatus {
  const context = status?.context;
  if (!context) return null;
  const { state, description, createdAt } = context;
  return { state: state.toLowerCase(), description: description ?? '', at: new Date(createdAt) };
}
