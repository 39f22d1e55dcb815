import { combinedState, latestStatuses } from '../state/mergeability.ts';
import { tooMany } from '../actions/statuses.ts';
import { GitHubError, invalid, notFound } from '../http/github-error.ts';
import { actor, demand, onRepository, refuseArchived, writing } from './on-repository.ts';
import { page } from '../http/paging.ts';
import { repositoryJson } from '../json/repository-json.ts';
import { statusJson } from '../json/status-json.ts';
import { bodyOf, type Api, type ApiContext, type Parts } from '../http/api.ts';
import type { Repository, StatusState } from '../state/model.ts';

const states = ['error', 'failure', 'pending', 'success'];

/** Posts and reads commit statuses. */
export function statusRoutes(api: Api, { world, statuses }: Parts): void {
  onRepository(api, world, 'post', '/statuses/:sha', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const sha = c.req.param('sha') ?? '';
    const status = validated(repository, sha, await bodyOf(c));
    if (statuses.isFull(repository, sha, status.context))
      throw invalid('Status', [{ code: 'custom', message: tooMany }]);
    const principal = c.get('principal');
    const appId = principal.kind === 'installation' ? principal.token.installation.app.id : undefined;
    const posted = statuses.post(repository, { ...status, creator: actor(c, world), appId });
    return c.json(statusJson(world, repository, posted), 201);
  });

  onRepository(api, world, 'get', '/commits/:ref{.+}/statuses', (c, repository) => {
    const all = (repository.statuses.get(commitIn(c, repository)) ?? []).toReversed();
    return c.json(page(c, all).map((status) => statusJson(world, repository, status)));
  });

  onRepository(api, world, 'get', '/commits/:ref{.+}/status', (c, repository) => {
    const sha = commitIn(c, repository);
    const latest = latestStatuses(repository, sha);
    return c.json({
      state: combinedState(latest),
      // They do not say who posted them.
      statuses: page(c, latest).map((status) => ({
        ...statusJson(world, repository, status),
        creator: undefined,
      })),
      sha,
      total_count: latest.length,
      repository: repositoryJson(world, repository),
    });
  });
}

function validated(repository: Repository, sha: string, body: Record<string, unknown>) {
  const { state, description = null, target_url: targetUrl = null, context = 'default' } = body;
  const errors: object[] = [];
  const refuse = (field: string, message: string) => errors.push({ code: 'custom', field, message });
  if (typeof state !== 'string' || !states.includes(state))
    refuse('state', 'state is not included in the list');
  if (description !== null && typeof description !== 'string')
    refuse('description', 'description must be a string');
  else if (description && [...description].length > 140) {
    refuse('description', 'description is too long (maximum is 140 characters)');
  } else if (description && [...description].some((character) => character.codePointAt(0)! > 0xffff)) {
    refuse('description', "description doesn't accept 4-byte Unicode");
  }
  if (typeof context !== 'string' || context.length > 255) {
    refuse('context', 'context is too long (maximum is 255 characters)');
  }
  if (targetUrl !== null && !/^https?:\/\//.test(String(targetUrl))) {
    refuse('target_url', 'target_url must use http(s) scheme');
  }
  if (errors.length > 0) throw invalid('Status', errors);
  if (!repository.commits.has(sha)) throw new GitHubError(422, `No commit found for SHA: ${sha}`);
  return {
    sha,
    state: state as StatusState,
    description: description as string | null,
    targetUrl: targetUrl as string | null,
    context: String(context),
  };
}

/** A SHA or the name of a branch. */
function commitIn(c: ApiContext, repository: Repository): string {
  const ref = c.req.param('ref') ?? '';
  const sha = repository.commits.has(ref)
    ? ref
    : repository.branches.get(ref.replace(/^(?:refs\/)?heads\//, ''));
  if (!sha) throw notFound();
  return sha;
}
