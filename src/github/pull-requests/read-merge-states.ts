import type { GitHubClient } from '../github-app.ts';
import { askInPart } from './ask-in-part.ts';

/** GraphQL's `MergeStateStatus`. */
export type MergeState =
  'BEHIND' | 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'HAS_HOOKS' | 'UNKNOWN' | 'UNSTABLE';

const mergeStatesQuery = /* GraphQL */ `
  query MergeStates($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on PullRequest {
        id
        headRefOid
        baseRefName
        isDraft
        mergeStateStatus
      }
    }
  }
`;

type Answer = {
  nodes: ({
    id: string;
    headRefOid: string;
    baseRefName: string;
    isDraft: boolean;
    mergeStateStatus: MergeState;
  } | null)[];
};

/** Whether GitHub would merge a pull request, and the head that it says so of. */
export type ReadMergeState = { headSha: string; base: string; state: MergeState };

/** GitHub answers so many to one question. */
export const mostMergeStates = 100;

/**
 * Whether GitHub would merge pull requests, by node id; those that are gone are left out. It says so to the App: a
 * branch that restricts who may push to it can be blocked for the App alone.
 * @param ids at most `mostMergeStates`.
 * @throws what GitHub throws.
 */
export async function readMergeStates(
  client: GitHubClient,
  ids: string[],
): Promise<Map<string, ReadMergeState>> {
  // Old GitHub Enterprise Servers know the field only by the name of its preview.
  const question = { ids, mediaType: { previews: ['merge-info'] } };
  const { answer } = await askInPart<Answer>(client, mergeStatesQuery, question);
  return new Map(
    answer.nodes
      .filter((node) => node !== null)
      .map(({ id, headRefOid: headSha, baseRefName: base, isDraft, mergeStateStatus }) => [
        id,
        { headSha, base, state: isDraft ? 'DRAFT' : mergeStateStatus },
      ]),
  );
}
