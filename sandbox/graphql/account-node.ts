import { instantJson } from '../json/instant-json.ts';
import type { Account } from '../state/model.ts';

/** The picture of an account or a team, at most so large. */
export const pictureOf =
  ({ avatarUrl }: Pick<Account, 'avatarUrl'>) =>
  ({ size }: { size?: number | null }): string =>
    size ? `${avatarUrl}&s=${size}` : avatarUrl;

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
    avatarUrl: pictureOf(account),
    createdAt: instantJson(account.createdAt),
    name: account.name,
  };
}
