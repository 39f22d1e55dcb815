import { fileJson, labelJson, pullRequestJson, pullRequestSummary } from '../json/pull-request-json.ts';
import { GitHubError, invalid, notFound } from '../http/github-error.ts';
import { pressMergeButton } from '../actions/merge-button.ts';
import {
  actor,
  demand,
  onRepository,
  pullRequestIn,
  reading,
  refuseArchived,
  writing,
} from './on-repository.ts';
import { stackOf } from '../state/stacks.ts';
import { page } from '../http/paging.ts';
import { bodyOf, type Api, type Parts } from '../http/api.ts';

const triaging = { level: 'write', role: 'triage' } as const;

/** Reads pull requests, and changes them for a person with curl. */
export function pullRequestRoutes(api: Api, { world, pullRequests, edits }: Parts): void {
  onRepository(api, world, 'get', '/pulls', (c, repository) => {
    demand(c, repository, reading);
    const { state = 'open', base, head } = c.req.query();
    const matching = [...repository.pullRequests.values()].filter(
      (pr) =>
        (state === 'all' || pr.state === state) &&
        (!base || pr.base === base) &&
        (!head || `${pr.head.repository.owner.login}:${pr.head.ref}` === head),
    );
    return c.json(page(c, matching.reverse()).map((pr) => pullRequestSummary(world, pr)));
  });

  onRepository(api, world, 'post', '/pulls', async (c, repository) => {
    demand(c, repository, { ...writing, role: 'read' });
    refuseArchived(repository);
    const { title, head, base, body, draft } = await bodyOf(c);
    if (typeof title !== 'string' || !title) {
      throw invalid('PullRequest', [{ code: 'missing_field', field: 'title' }]);
    }
    const author = actor(c, world);
    const [fork, ref] = text(head)?.includes(':') ? text(head)!.split(':') : [null, text(head)];
    const pr = pullRequests.open(repository, author, {
      title,
      head: ref,
      base: text(base),
      body: text(body),
      draft: draft === true,
      fork: fork !== null && fork?.toLowerCase() !== repository.owner.login.toLowerCase(),
    });
    return c.json(pullRequestJson(world, pr), 201);
  });

  onRepository(api, world, 'get', '/pulls/:number', (c, repository) => {
    demand(c, repository, reading);
    return c.json(pullRequestJson(world, pullRequestIn(c, repository)));
  });

  onRepository(api, world, 'patch', '/pulls/:number', async (c, repository) => {
    const pr = pullRequestIn(c, repository);
    const by = actor(c, world);
    // Authors can edit their pull requests.
    demand(c, repository, by === pr.author ? { ...triaging, role: 'read' } : triaging);
    refuseArchived(repository);
    const { title, base, body, state } = await bodyOf(c);
    edits.edit(pr, { title: text(title), base: text(base), body: text(body) }, by);
    if (state === 'closed') pullRequests.close(pr, by);
    if (state === 'open') pullRequests.reopen(pr, by);
    return c.json(pullRequestJson(world, pr));
  });

  onRepository(api, world, 'get', '/pulls/:number/files', (c, repository) => {
    demand(c, repository, reading);
    return c.json(page(c, pullRequestIn(c, repository).files).map(fileJson));
  });

  onRepository(api, world, 'get', '/pulls/:number/merge', (c, repository) => {
    if (!pullRequestIn(c, repository).merged) throw notFound();
    return c.body(null, 204);
  });

  onRepository(api, world, 'put', '/pulls/:number/merge', async (c, repository) => {
    demand(c, repository, writing);
    refuseArchived(repository);
    const pr = pullRequestIn(c, repository);
    if (stackOf(pr))
      throw new GitHubError(405, 'A stack can only be merged with the asynchronous merge API.');
    const { sha } = await bodyOf(c);
    const head = sha === undefined ? null : String(sha);
    const pressed = pressMergeButton(pullRequests, pr, actor(c, world), head);
    if ('message' in pressed) throw new GitHubError(pressed.status, pressed.message);
    return c.json({ sha: pressed.sha, merged: true, message: 'Pull Request successfully merged' });
  });

  onRepository(api, world, 'get', '/issues/:number/labels', (c, repository) => {
    demand(c, repository, reading);
    const { labels } = pullRequestIn(c, repository);
    return c.json(page(c, labels).map((label) => labelJson(world, repository, label)));
  });

  onRepository(api, world, 'get', '/labels', (c, repository) => {
    demand(c, repository, reading);
    return c.json(
      page(c, [...repository.labels.values()]).map((label) => labelJson(world, repository, label)),
    );
  });

  onRepository(api, world, 'post', '/issues/:number/labels', async (c, repository) => {
    demand(c, repository, triaging);
    refuseArchived(repository);
    const pr = pullRequestIn(c, repository);
    const body = await bodyOf(c);
    const labels = Array.isArray(body) ? body : body['labels'];
    if (!Array.isArray(labels)) throw invalid('Label', [{ code: 'missing_field', field: 'labels' }]);
    for (const name of labels) edits.label(pr, String(name), actor(c, world));
    return c.json(pr.labels.map((label) => labelJson(world, repository, label)));
  });

  onRepository(api, world, 'delete', '/issues/:number/labels/:name', (c, repository) => {
    demand(c, repository, triaging);
    refuseArchived(repository);
    const pr = pullRequestIn(c, repository);
    const removed = edits.unlabel(pr, c.req.param('name') ?? '', actor(c, world));
    if (!removed) throw new GitHubError(404, 'Label does not exist');
    return c.json(pr.labels.map((label) => labelJson(world, repository, label)));
  });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
