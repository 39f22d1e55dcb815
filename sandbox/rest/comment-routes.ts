import { mayComment } from '../actions/comments.ts';
import { commentJson } from '../json/comment-json.ts';
import { GitHubError, invalid } from '../http/github-error.ts';
import { page } from '../http/paging.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import { actor, demand, onRepository, pullRequestIn, reading, refuseArchived } from './on-repository.ts';
import type { PullRequest } from '../state/model.ts';

/** The most characters that GitHub accepts. */
const longest = 65_536;

/** Comments on the conversation of a pull request, which is an issue there. */
export function commentRoutes(api: Api, { world, comments }: Parts): void {
  onRepository(api, world, 'post', '/issues/:number/comments', async (c, repository) => {
    demand(c, repository, { level: 'write', role: 'read' });
    refuseArchived(repository);
    const pr = pullRequestIn(c, repository);
    refuseLocked(c, pr);
    const { body } = await bodyOf(c);
    if (typeof body !== 'string' || body.trim() === '')
      throw invalid('IssueComment', [{ code: 'missing_field', field: 'body' }]);
    if ([...body].length > longest) {
      const message = `body is too long (maximum is ${longest} characters)`;
      throw invalid('IssueComment', [{ code: 'custom', field: 'body', message }]);
    }
    const throughApp = c.get('principal').kind === 'installation';
    const comment = comments.create(pr, actor(c, world), body, { throughApp });
    return c.json(commentJson(world, pr, comment), 201);
  });

  onRepository(api, world, 'get', '/issues/:number/comments', (c, repository) => {
    demand(c, repository, reading);
    const pr = pullRequestIn(c, repository);
    const since = Date.parse(c.req.query('since') ?? '');
    const found = pr.comments.filter(({ updatedAt }) => !(updatedAt.getTime() < since));
    return c.json(page(c, found).map((comment) => commentJson(world, pr, comment)));
  });
}

/** An App writes nothing in a locked conversation. */
function refuseLocked(c: ApiContext, pr: PullRequest): void {
  const principal = c.get('principal');
  const mayWrite = principal.kind === 'user' && mayComment(pr, principal.token.user);
  if (pr.locked && !mayWrite) throw new GitHubError(403, 'Unable to create comment because issue is locked.');
}
