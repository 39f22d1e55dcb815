import type { GitHubClient } from '../github/github-app.ts';
import type { GitHubInstallation } from './save-installation.ts';

type InstallationAnswer = Awaited<ReturnType<GitHubClient['rest']['apps']['getInstallation']>>['data'];

/** The fields of GitHub's installation that we store. Enterprises have no login, so we use their slug. */
export function readInstallation(answer: InstallationAnswer): GitHubInstallation {
  const account = answer.account;
  if (!account) throw new Error(`GitHub's installation ${answer.id} has no account`);
  return {
    id: Number(answer.id),
    account: {
      id: Number(account.id),
      login: 'login' in account ? account.login : account.slug,
      type: 'type' in account ? account.type : 'Enterprise',
    },
    permissions: answer.permissions as Record<string, string>,
    suspendedAt: answer.suspended_at,
  };
}
