import { z } from '@hono/zod-openapi';
import { beforePush, pushScopes, type PushedScopes } from '../push-scopes.ts';
import { longestScope, mostScopes } from '../../conditions/scope-limits.ts';
import { endpoint } from '../endpoint.ts';
import { text, number, owner, repository } from '../fields.ts';

const body = z
  .object({
    scopes: z
      .array(text(longestScope, 'A scope').min(1, 'A scope has at least 1 character.'))
      .refine((scopes) => new Set(scopes).size <= mostScopes, `Send at most ${mostScopes} different scopes.`)
      .openapi({
        description: `Replaces all scopes. Send at most ${mostScopes} different scopes. Duplicates count once.`,
      }),
    all_scopes: z.boolean().optional().openapi({
      description: 'Whether the pull request touches everything, so that every `scope` condition matches it.',
    }),
  })
  .openapi('PullRequestScopes');

const params = z.object({ owner, repository, number });

type Path = z.output<typeof params>;
type Body = z.output<typeof body>;

const pushedBy = ({ number }: Path, { scopes, all_scopes: allScopes = false }: Body): PushedScopes => ({
  number,
  scopes: [...new Set(scopes)],
  allScopes,
});

const shared = {
  path: '/repos/{owner}/{repository}/pulls/{number}/scopes',
  tag: 'Pull requests',
  access: { to: 'repository', scope: 'ci', job: 'push_scopes' },
  params,
  body: { schema: body, example: { scopes: ['backend', 'docs'], all_scopes: false } },
  success: { status: 204, description: 'Stored' },
  reads: ({ path, body }: { path: Path; body: Body }) => beforePush(pushedBy(path, body)),
} as const;

export const putScopes = endpoint({
  ...shared,
  method: 'put',
  summary: 'Set the scopes of a pull request',
  async handle({ deps, actor, repository, path, body, read }) {
    await pushScopes(deps, actor, repository, pushedBy(path, body), await read());
  },
});

export const postScopes = endpoint({
  ...shared,
  method: 'post',
  summary: 'Set the scopes of a pull request (use PUT)',
  deprecated: {
    successor: ({ owner, repository, number }: Path) =>
      `/v1/repos/${owner}/${repository}/pulls/${number}/scopes`,
  },
  async handle({ deps, actor, repository, path, body, read, remember }) {
    await pushScopes(deps, actor, repository, pushedBy(path, body), await read(), (tx) =>
      remember(tx, { status: 204 }),
    );
  },
});
