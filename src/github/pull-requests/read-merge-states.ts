import type { GitHubClient } from '../github-app.ts';
import { askInPart } from './ask-in-part.ts';

/** GraphQL's `MergeStateStatus`. */
export type MergeState =
  'BEHIND' | 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'HAS_HOOKS' | 'UNKNOWN' | 'UNSTABLE';

export const mergeStatesQuery = /* GraphQL */ `
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

/** Whether GitHub would merge a pull request, and the head of that answer. */
export type ReadMergeState = { headSha: string; base: string; state: MergeState };

/** How many GitHub answers with one question. */
export const mostMergeStates = 100;

/**
 * Whether GitHub would merge pull requests, by node id. Leaves out those that are gone. GitHub answers for the App: if
 * a branch restricts who can push to it, it may be blocked only for the App.
 * @param ids at most `mostMergeStates`.
 * @throws GitHub's errors.
 */
export async function readMergeStates(
  client: GitHubClient,
  ids: string[],
): Promise<Map<string, ReadMergeState>> {
  // Old GitHub Enterprise Servers have this field only under the name of its preview.
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
