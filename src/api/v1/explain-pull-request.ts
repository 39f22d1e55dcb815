import { z } from '@hono/zod-openapi';
import { explainPullRequest, heldBelow } from '../../explanations/explain-pull-request.ts';
import { endpoint } from '../endpoint.ts';
import { number, owner, repository } from '../path-params.ts';
import {
  examplePullRequest,
  exampleReason,
  passSchema,
  presentPass,
  presentPullRequest,
  presentReasons,
  pullRequestSchema,
  reason,
  verdict,
} from './explanation-schemas.ts';
import { exampleFreeze, freezeSchema, presentFreeze } from './freeze-schemas.ts';

const explanation = z
  .object({
    pull_request: pullRequestSchema,
    frozen: z.boolean().openapi({
      description:
        'Whether a freeze holds it now, or holds another pull request with the same head commit or below it in its stack',
    }),
    held_below: z.array(z.number().int()).optional().openapi({
      description:
        'The held pull requests below it in its stack: merging it would merge them. Absent outside of stacks',
    }),
    status: z
      .object({ state: z.enum(['pending', 'success']), description: z.string() })
      .nullable()
      .openapi({
        description:
          'The status that its head commit should have, for all pull requests that share it. null if the pull request is not open',
      }),
    next_change_at: z.iso.datetime().nullable().openapi({
      description: 'When time alone may next change this, other than the start or end of a freeze',
    }),
    freezes: z.array(
      z.object({
        scheduled_freeze: freezeSchema,
        verdict,
        exemption: passSchema,
        until: z.iso
          .datetime()
          .nullable()
          .openapi({ description: 'When the freeze ends. null if it has no end' }),
        reasons: z.array(reason),
      }),
    ),
  })
  .openapi('PullRequestExplanation');

export const explainPullRequestEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/pulls/{number}/freezes',
  tag: 'Scheduled freezes',
  summary: 'See what holds a pull request now, why, and until when',
  access: { to: 'repository', scope: 'admin' },
  params: z.object({ owner, repository, number }),
  success: {
    status: 200,
    description: 'The ongoing freezes, and the effect of each on the pull request',
    schema: explanation,
    example: {
      pull_request: examplePullRequest,
      frozen: true,
      status: { state: 'pending', description: 'Frozen until 2026-04-01 09:00 Europe/Paris: Quarter end' },
      next_change_at: null,
      freezes: [
        {
          scheduled_freeze: exampleFreeze,
          verdict: 'frozen',
          until: '2026-04-01T07:00:00.000Z',
          reasons: [exampleReason],
        },
      ],
    },
  },
  async handle({ deps, repository, path }) {
    const found = await explainPullRequest(deps, repository, path.number);
    return {
      pull_request: presentPullRequest(found.pullRequest, repository),
      frozen: found.isFrozen,
      ...(found.pullRequest.facts.stack && { held_below: heldBelow(found) }),
      status: found.status,
      next_change_at: found.nextChangeAt?.toISOString() ?? null,
      freezes: found.freezes.map(({ freeze, verdict, pass, reasons }) => ({
        scheduled_freeze: presentFreeze(freeze),
        verdict,
        ...presentPass(pass?.exemption ?? null),
        until: freeze.endsAt?.toISOString() ?? null,
        reasons: presentReasons(reasons),
      })),
    };
  },
});
