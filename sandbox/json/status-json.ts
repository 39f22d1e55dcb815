import { instantJson } from './instant-json.ts';
import { accountJson } from './account-json.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { nodeId } from '../state/ids.ts';
import type { CommitStatus, Repository } from '../state/model.ts';

/** A commit status in REST. */
export function statusJson(world: World, repository: Repository, status: CommitStatus) {
  return {
    url: `${world.url}/repos/${fullNameOf(repository)}/statuses/${status.sha}`,
    avatar_url: status.creator.avatarUrl,
    id: status.id,
    node_id: nodeId('StatusContext', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: instantJson(status.createdAt),
    updated_at: instantJson(status.createdAt),
    creator: accountJson(world, status.creator),
  };
}
