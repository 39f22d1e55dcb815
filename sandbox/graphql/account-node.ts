import { instantJson } from '../json/instant-json.ts';
import type { Account } from '../state/model.ts';

/** A user, bot or organization. GraphQL names bots without the `[bot]` that REST adds. */
export function accountNode(account: Account) {
  const login = account.login.replace(/\[bot\]$/, '');
  return {
    __typename: account.type,
    id: account.nodeId,
    databaseId: account.id,
    login,
    url: `https://github.com/${account.type === 'Bot' ? 'apps/' : ''}${login}`,
    resourcePath: `/${login}`,
    avatarUrl: `https://avatars.githubusercontent.com/u/${account.id}?v=4`,
    createdAt: instantJson(account.createdAt),
    name: null,
  };
}
