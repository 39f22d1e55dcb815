import type { Sandbox } from '../sandbox/github.ts';

/** How many pull requests `acme/web` has: what the tour asks GitHub about. */
export const webPullRequests = 8;

/**
 * Fills a GitHub for the demo: an organization with an admin and a member, somebody outside with forks, three
 * repositories, one of them private, and twelve open pull requests.
 * The App is not installed yet, and nothing requires its status.
 * @returns the admin's token.
 */
export function seed(github: Sandbox): { adminToken: string } {
  const ada = github.addUser('ada');
  github.addUser('bob');
  github.addUser('carol');
  github.addBot('dependabot');
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'], basePermission: 'read' });
  github.addRepository('acme/web', { roles: { bob: 'write' } });
  github.addRepository('acme/api', { roles: { bob: 'maintain' } });
  github.addRepository('acme/vault', { private: true });
  openOnWeb(github);
  openElsewhere(github);
  return { adminToken: ada.token };
}

/** Requires the App's status check, as an admin does once there is an App. */
export function requireStatus(github: Sandbox): void {
  const required = { checks: [{ context: 'holdfast/freeze', app: github.app.id }] };
  for (const repository of ['acme/web', 'acme/api'])
    for (const branch of ['main', 'release-4.1']) github.protect(repository, branch, required);
}

function openOnWeb(github: Sandbox): void {
  const open = (given: Parameters<Sandbox['openPullRequest']>[1]) =>
    github.openPullRequest('acme/web', given);
  open({ author: 'ada', title: 'Explain the release', labels: ['docs'], files: ['docs/release.md'] });
  open({
    author: 'bob',
    title: 'New checkout',
    labels: ['risky', 'payments'],
    files: ['src/checkout.ts', 'src/cart.ts'],
  });
  open({
    author: 'dependabot[bot]',
    title: 'Update the payment library',
    labels: ['dependencies', 'risky'],
    files: ['package.json', 'package-lock.json'],
  });
  open({ author: 'bob', title: 'Refund by button', head: 'refunds', files: ['src/refund.ts'] });
  open({ author: 'carol', title: 'Fix a typo', fork: true, files: ['README.md'] });
  open({
    author: 'carol',
    title: 'Faster search',
    fork: true,
    labels: ['risky'],
    files: ['src/search.ts'],
  });
  // The same branch proposed for two bases: one head SHA, so one commit status, for both pull requests.
  const { headSha } = open({ author: 'bob', title: 'Hotfix', head: 'hotfix', labels: ['hotfix'] });
  open({ author: 'bob', title: 'Hotfix for 4.1', head: 'hotfix', headSha, base: 'release-4.1' });
}

function openElsewhere(github: Sandbox): void {
  github.openPullRequest('acme/api', {
    author: 'bob',
    title: 'Second version of orders',
    labels: ['risky'],
    draft: true,
    files: ['src/orders.ts'],
  });
  github.openPullRequest('acme/api', { author: 'ada', title: 'Limit requests', files: ['src/limits.ts'] });
  github.openPullRequest('acme/vault', { author: 'ada', title: 'Rotate keys', labels: ['security'] });
  github.openPullRequest('acme/vault', { author: 'ada', title: 'Draft of a policy', draft: true });
}
