import { instantJson } from './instant-json.ts';
import { accountJson } from './account-json.ts';
import { atLeast } from '../state/access.ts';
import { fullNameOf, type World } from '../state/world.ts';
import type { Repository, Role } from '../state/model.ts';

/** A repository in REST and webhooks. */
export function repositoryJson(world: World, repository: Repository) {
  const fullName = fullNameOf(repository);
  const url = `${world.url}/repos/${fullName}`;
  return {
    id: repository.id,
    node_id: repository.nodeId,
    name: repository.name,
    full_name: fullName,
    private: repository.private,
    owner: accountJson(world, repository.owner),
    html_url: `https://github.com/${fullName}`,
    description: repository.description,
    fork: repository.fork,
    url,
    statuses_url: `${url}/statuses/{sha}`,
    pulls_url: `${url}/pulls{/number}`,
    created_at: instantJson(repository.createdAt),
    updated_at: instantJson(repository.createdAt),
    pushed_at: instantJson(repository.createdAt),
    archived: repository.archived,
    disabled: false,
    visibility: repository.private ? 'private' : 'public',
    default_branch: repository.defaultBranch,
  };
}

/** The five fields of a repository that installation webhooks carry. */
export function repositoryStub(repository: Repository) {
  return {
    id: repository.id,
    node_id: repository.nodeId,
    name: repository.name,
    full_name: fullNameOf(repository),
    private: repository.private,
  };
}

/** The `permissions` object of a person's role. */
export function rolePermissions(role: Role | 'none') {
  return {
    admin: atLeast(role, 'admin'),
    maintain: atLeast(role, 'maintain'),
    push: atLeast(role, 'write'),
    triage: atLeast(role, 'triage'),
    pull: atLeast(role, 'read'),
  };
}
