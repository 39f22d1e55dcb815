import { instantJson } from './instant-json.ts';
import { nodeId } from '../state/ids.ts';
import type { Environment, Repository } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';

/** An environment as a review has it. */
export const namedEnvironment = (
  world: World,
  repository: Repository,
  { id, name, createdAt }: Environment,
) => ({
  id,
  node_id: nodeId('Environment', id),
  name,
  url: `${world.url}/repos/${fullNameOf(repository)}/environments/${encodeURIComponent(name)}`,
  html_url: `https://github.com/${fullNameOf(repository)}/deployments/activity_log?environments_filter=${encodeURIComponent(name)}`,
  created_at: instantJson(createdAt),
  updated_at: instantJson(createdAt),
});

/** An environment with its rules. */
export const environmentJson = (world: World, repository: Repository, environment: Environment) => ({
  ...namedEnvironment(world, repository, environment),
  can_admins_bypass: environment.adminsBypass,
  protection_rules: environment.rules.map(({ id }) => ({ id, node_id: `GA_${id}`, type: 'custom' })),
  deployment_branch_policy: null,
});
