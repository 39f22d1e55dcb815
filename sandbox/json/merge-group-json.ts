import { instantJson } from './instant-json.ts';
import type { MergeGroup, MergeQueue } from '../state/model.ts';

/** A merge group in webhooks. It names only its last pull request, in its ref. */
export function mergeGroupJson({ repository, branch }: MergeQueue, group: MergeGroup) {
  const { message, author, committer } = repository.commitDetails.get(group.headSha)!;
  return {
    head_sha: group.headSha,
    head_ref: group.ref,
    base_sha: group.baseSha,
    base_ref: `refs/heads/${branch}`,
    head_commit: {
      id: group.headSha,
      tree_id: group.treeSha,
      message,
      timestamp: instantJson(group.requestedAt),
      author: { name: author.name, email: author.email },
      committer: { name: committer.name, email: committer.email },
    },
  };
}
