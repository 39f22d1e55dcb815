import { z } from '@hono/zod-openapi';
import type { ConditionReason } from '../../conditions/explain.ts';
import type { Exemption } from '../../exemptions/exemption.ts';
import type { FreezeReasons } from '../../freezes/judge-freeze.ts';
import type { LoadedPullRequest } from '../../github/pull-requests/load-pull-requests.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { explainPullRequest, heldBelow } from '../../explanations/explain-pull-request.ts';
import { endpoint } from '../endpoint.ts';
import { pullRequestNumber, owner, repository } from '../fields.ts';
import { exampleFreeze, freezeSchema, presentFreeze } from './freeze-schemas.ts';
import type { StackPlace } from '../../github/pull-requests/pull-request.ts';

export const verdictSchema = z.enum(['frozen', 'excluded', 'unknown', 'not_matched']).openapi({
  description: '`unknown` means that the conditions could not be evaluated, so the pull request is blocked.',
});

export const reason = z
  .object({
    list: z.enum(['matching_conditions', 'exclude_conditions']),
    path: z.array(z.union([z.string(), z.number()])).openapi({ description: 'The position in the list' }),
    condition: z.string(),
    match: z.boolean().nullable().openapi({ description: 'null if it could not be evaluated' }),
    saw: z
      .array(z.union([z.string(), z.number(), z.boolean()]))
      .nullable()
      .openapi({ description: 'The values that it was evaluated on, at most 20. null if they are unknown' }),
    more: z.number().int().openapi({ description: 'How many more values there are' }),
    error: z.string().nullable().openapi({ description: 'Why it could not be evaluated' }),
    decides: z.boolean().openapi({ description: 'Whether the result of its list depends on it' }),
  })
  .openapi('ConditionReason');

/** The exemption of a pull request from a freeze. */
export const passSchema = z
  .object({
    id: z.uuid(),
    reason: z.string(),
    expires_at: z.iso.datetime(),
  })
  .optional()
  .openapi({ description: 'The exemption from this freeze. Absent if there is none' });

/** @returns nothing if there is none, so that clients that do not know exemptions see no new fields. */
export const presentPass = (exemption: Exemption | null) =>
  exemption && {
    exemption: {
      id: exemption.id,
      reason: exemption.reason,
      expires_at: exemption.expiresAt.toISOString(),
    },
  };

const stackSchema = z
  .object({
    number: z.number().int(),
    position: z.number().int().openapi({ description: '1 is the bottom one, which merges first' }),
    size: z.number().int(),
    base: z.string().openapi({ description: 'The branch that the stack merges into. Its freezes count' }),
  })
  .optional()
  .openapi({ description: 'Its place in a stack of GitHub. Absent if it is in none' });

export const pullRequestSchema = z
  .object({
    number: z.number().int(),
    title: z.string(),
    author: z.string().nullable(),
    head_sha: z.string(),
    state: z.enum(['open', 'closed']),
    draft: z.boolean(),
    repository: z.string(),
    stack: stackSchema,
  })
  .openapi('PullRequest');

export const examplePullRequest = {
  number: 42,
  title: 'Faster checkout',
  author: 'mona',
  head_sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  state: 'open',
  draft: false,
  repository: 'acme/web',
};

export const exampleReason = {
  list: 'matching_conditions',
  path: [0],
  condition: 'base=main',
  match: true,
  saw: ['main'],
  more: 0,
  error: null,
  decides: true,
};

export const presentPullRequest = (
  { facts, title, author, isOpen, isDraft }: LoadedPullRequest,
  repository: FoundRepository,
) => ({
  number: facts.number,
  title,
  author,
  head_sha: facts.headSha,
  state: isOpen ? ('open' as const) : ('closed' as const),
  draft: isDraft,
  repository: fullName(repository),
  ...(facts.stack && { stack: explainedPlace(facts.stack) }),
});

const explainedPlace = ({ number, position, size, base }: StackPlace) => ({ number, position, size, base });

/** The conditions of both lists, one after the other. */
export const presentReasons = ({ matching, exclude }: FreezeReasons) => [
  ...matching.map((each) => presentExplanation('matching_conditions', each)),
  ...exclude.map((each) => presentExplanation('exclude_conditions', each)),
];

const presentExplanation = (
  list: 'matching_conditions' | 'exclude_conditions',
  { path, condition, match, saw, more, why, decides }: ConditionReason,
) => ({ list, path, condition, match: match === 'unknown' ? null : match, saw, more, error: why, decides });

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
        verdict: verdictSchema,
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
  summary: 'See what blocks a pull request now, why, and until when',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: z.object({ owner, repository, number: pullRequestNumber }),
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
