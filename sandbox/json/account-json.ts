import type { World } from '../state/world.ts';
import type { Account } from '../state/model.ts';

const slugOf = ({ login }: Account): string => login.replace(/\[bot\]$/, '');

/** The "simple user" that REST and webhooks embed. */
export function accountJson(world: World, account: Account) {
  const url = `${world.url}/users/${encodeURIComponent(account.login)}`;
  return {
    login: account.login,
    id: account.id,
    node_id: account.nodeId,
    avatar_url: account.avatarUrl,
    gravatar_id: '',
    url,
    html_url: `https://github.com/${account.type === 'Bot' ? `apps/${slugOf(account)}` : account.login}`,
    repos_url: `${url}/repos`,
    type: account.type,
    site_admin: false,
  };
}

/** The short organization that webhooks of organization repositories carry. */
export function organizationJson(world: World, account: Account) {
  return {
    login: account.login,
    id: account.id,
    node_id: account.nodeId,
    url: `${world.url}/orgs/${account.login}`,
    repos_url: `${world.url}/orgs/${account.login}/repos`,
    avatar_url: account.avatarUrl,
    description: null,
  };
}
