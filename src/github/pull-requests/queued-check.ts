// A check on the commit of a merge group, as clients of the interface know it.

/** @property endedAt null while it runs. @property avatarUrl the picture of who reports it; null if GitHub gives none. */
export type QueuedCheck = { name: string; state: string; endedAt: Date | null; avatarUrl: string | null };

/** The fields of a check. */
export const check = /* GraphQL */ `
  __typename
  ... on CheckRun { name conclusion completedAt checkSuite { app { logoUrl } } }
  ... on StatusContext { context state createdAt avatarUrl }
`;
export type CheckAnswer =
  | {
      __typename: 'CheckRun';
      name: string;
      conclusion: string | null;
      completedAt: string | null;
      checkSuite: { app: { logoUrl: string } | null };
    }
  | {
      __typename: 'StatusContext';
      context: string;
      state: string;
      createdAt: string;
      avatarUrl: string | null;
    };

/** The states of checks as clients of the interface know them. */
export function checkOf(check: CheckAnswer): QueuedCheck {
  if (check.__typename === 'StatusContext') {
    const state = check.state.toLowerCase().replace('expected', 'pending');
    const endedAt = state === 'pending' ? null : new Date(check.createdAt);
    return { name: check.context, state, endedAt, avatarUrl: check.avatarUrl };
  }
  const { name, conclusion, completedAt, checkSuite } = check;
  return {
    name,
    state: (conclusion ?? 'pending').toLowerCase(),
    endedAt: completedAt === null ? null : new Date(completedAt),
    avatarUrl: checkSuite.app?.logoUrl ?? null,
  };
}
