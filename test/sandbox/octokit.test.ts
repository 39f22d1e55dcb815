import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/rest';
import { expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const world = acmeForAll();

/** The client that the product uses, as an installation of the App. */
function installationClient(): Octokit {
  const { github, installationId } = world;
  const { id: appId, privateKey } = github.app;
  return new Octokit({
    baseUrl: github.url,
    authStrategy: createAppAuth,
    auth: { appId, privateKey, installationId },
  });
}

test('Octokit posts a status, reads it back, and follows a rename with both', async () => {
  const { github } = world;
  const octokit = installationClient();
  const { number, headSha: sha } = github.openPullRequest('acme/web', { author: 'eve' });
  const where = { owner: 'acme', repo: 'web' };
  const context = 'holdfast/freeze';
  await octokit.rest.repos.createCommitStatus({ ...where, sha, state: 'pending', context });
  expect((await octokit.rest.pulls.get({ ...where, pull_number: number })).data.mergeable_state).toBe(
    'blocked',
  );

  github.renameRepository('acme/web', 'site');
  const posted = await octokit.rest.repos.createCommitStatus({ ...where, sha, state: 'success', context });
  expect(posted.data.creator?.login).toBe('holdfast[bot]');
  expect((await octokit.rest.repos.get(where)).data.full_name).toBe('acme/site');
  expect((await octokit.rest.repos.getCombinedStatusForRef({ ...where, ref: sha })).data.state).toBe(
    'success',
  );
  expect(github.mergeable('acme/site', number)).toBe('clean');
});

test('Octokit pages through lists', async () => {
  const { github } = world;
  for (let count = 0; count < 5; count += 1) github.openPullRequest('acme/site', { author: 'eve' });
  const octokit = installationClient();
  const pulls = await octokit.paginate(octokit.rest.pulls.list, { owner: 'acme', repo: 'site', per_page: 2 });
  expect(pulls).toHaveLength(6);
  const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, {
    per_page: 1,
  });
  expect(repositories).toHaveLength(2);
});

test('octokit.graphql reads data, and throws what GitHub refuses', async () => {
  const octokit = installationClient();
  const query = 'query($owner: String!) { repository(owner: $owner, name: "site") { nameWithOwner } }';
  expect(await octokit.graphql(query, { owner: 'acme' })).toEqual({
    repository: { nameWithOwner: 'acme/site' },
  });
  await expect(octokit.graphql('{ nonsense }')).rejects.toThrow(
    "Field 'nonsense' doesn't exist on type 'Query'",
  );
});

test('Octokit speaks for a person until the token is revoked', async () => {
  const { github, ada } = world;
  const octokit = new Octokit({ baseUrl: github.url, auth: ada.token });
  expect((await octokit.rest.users.getAuthenticated()).data.login).toBe('ada');
  github.revokeToken(ada.token);
  await expect(octokit.rest.users.getAuthenticated()).rejects.toMatchObject({ status: 401 });
});
