import type { Sandbox } from '../sandbox/github.ts';

/** How many pull requests `acme/web` has. The tour asks GitHub about them. */
export const webPullRequests = 8;

/** The repositories of acme. Nothing requires the status on the last one. */
const protectedRepositories = ['acme/web', 'acme/api', 'acme/vault', 'acme/billing', 'acme/mobile'];
export const repositories = [...protectedRepositories, 'acme/infra'];

/** The tokens of the demo's people for GitHub's API. */
export type Tokens = { ada: string; grace: string; bob: string };

/**
 * Fills a GitHub for the demo: an organization with two admins, ada and grace, a developer, bob, an outside person with
 * forks, six repositories, one of them private, and twenty open pull requests.
 * The App is not installed yet, and nothing requires its status.
 */
export function seed(github: Sandbox): Tokens {
  const ada = github.addUser('ada');
  const bob = github.addUser('bob');
  github.addUser('carol');
  github.addBot('dependabot');
  github.addOrganization('acme', { admins: ['ada'], members: ['bob'], basePermission: 'read' });
  const grace = github.addUser('grace');
  github.setMembership('acme', 'grace', 'admin');
  github.addRepository('acme/web', { roles: { bob: 'write' } });
  github.addRepository('acme/api', { roles: { bob: 'maintain' } });
  github.addRepository('acme/vault', { private: true });
  for (const name of ['acme/billing', 'acme/mobile', 'acme/infra'])
    github.addRepository(name, { roles: { bob: 'write' } });
  openOnWeb(github);
  openElsewhere(github);
  return { ada: ada.token, grace: grace.token, bob: bob.token };
}

/** Requires the App's status check in every repository but acme/infra, as an admin does when there is an App. */
export function requireStatus(github: Sandbox): void {
  const required = { checks: [{ context: 'holdfast/freeze', app: github.app.id }] };
  for (const repository of protectedRepositories)
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

/** On acme/api: a pull request that was exempt from a freeze, and one for which somebody requests that. */
export const letThrough = 3;
export const asked = 4;

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
  github.openPullRequest('acme/api', { author: 'bob', title: 'Share database connections' });
  github.openPullRequest('acme/api', { author: 'bob', title: 'Refunds reach the card again' });
  github.openPullRequest('acme/billing', { author: 'ada', title: 'Round totals once' });
  github.openPullRequest('acme/billing', { author: 'bob', title: 'Invoices in colour' });
  github.openPullRequest('acme/mobile', { author: 'bob', title: 'Dark mode' });
  github.openPullRequest('acme/mobile', { author: 'ada', title: 'Crash on start', labels: ['hotfix'] });
  github.openPullRequest('acme/infra', { author: 'bob', title: 'Renew certificates by hand' });
  github.openPullRequest('acme/infra', { author: 'ada', title: 'A bigger database' });
}
