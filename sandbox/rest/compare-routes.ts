import { notFound } from '../http/github-error.ts';
import { demand, onRepository, reading } from './on-repository.ts';
import type { Api, Parts } from '../http/api.ts';

/** Compares a branch, or its current commit, with the head of a pull request into it. */
export function compareRoutes(api: Api, { world }: Parts): void {
  onRepository(api, world, 'get', '/compare/:basehead{.+}', (c, repository) => {
    demand(c, repository, reading);
    const [base, head] = decodeURIComponent(c.req.param('basehead') ?? '').split('...');
    const isBase = (branch: string) => branch === base || repository.branches.get(branch) === base;
    const pr = repository.pullRequests.values().find((each) => isBase(each.base) && each.head.sha === head);
    if (!pr) throw notFound();
    const ahead = pr.commits.length;
    return c.json({
      status: pr.behind > 0 ? 'diverged' : 'ahead',
      ahead_by: ahead,
      behind_by: pr.behind,
      total_commits: ahead,
      commits: [],
      files: [],
    });
  });
}
