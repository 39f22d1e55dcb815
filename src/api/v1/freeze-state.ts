import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { nowOf } from '../../time/clock.ts';
import { placeEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { invalid } from '../../errors.ts';
import { freezesNotOver } from '../../freezes/list-freezes.ts';
import { readFrozenState } from '../../plans/read-frozen-state.ts';
import { HandlerAnswer } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { instantField, textSchema, repositoryParams } from '../fields.ts';
import type { FreezeQuery } from '../../freezes/judge-freeze.ts';

/** How many years ahead or back callers may ask about. */
const mostYears = 5;
const atSays = `Send an instant such as 2026-12-30T18:00:00Z, at most ${mostYears} years ahead or back.`;
/** Seconds that a cache may keep an answer, because somebody may create a freeze at any time. */
const longestAge = 30;

const enforcedWords = { true: 'yes', false: 'no', unknown: 'unknown' } as const;

const freezeStateSchema = z
  .object({
    frozen: z.boolean().openapi({
      description:
        'Whether an ongoing freeze could hold a pull request into the branch, or a deployment to the environment',
    }),
    at: z.iso.datetime(),
    freezes: z.array(z.uuid()).openapi({
      description:
        'These freezes, earliest start first. Freezes that a plan creates later are missing, because they have no ID yet',
    }),
    next_transition_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When `frozen` next changes. null if nothing planned changes it' }),
    enforced: z.enum(Object.values(enforcedWords)).openapi({
      description:
        'Whether GitHub refuses to merge held pull requests into the branch, or into the default branch. For an environment, whether GitHub waits for Holdfast before it deploys there',
    }),
  })
  .openapi('FreezeState');

export const freezeStateEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/freeze_state',
  tag: 'Scheduled freezes',
  summary: 'See whether a repository is frozen, now or at another time',
  description:
    'Pipelines can ask this before they continue. A freeze with conditions on more than the base branch counts as one that could hold. Freezes that only hold deployments count only if you name an `environment`.',
  access: { to: 'repository-readers' },
  params: repositoryParams,
  query: z.object({
    at: instantField(atSays)
      .optional()
      .openapi({
        description: `The instant to ask about, at most ${mostYears} years ahead or back. Now by default`,
      }),
    base: textSchema(255, 'A branch')
      .min(1, 'A branch has at least 1 character.')
      .optional()
      .openapi({ description: 'The branch that pull requests merge into. Any branch by default' }),
    environment: textSchema(255, 'An environment')
      .min(1, 'An environment has at least 1 character.')
      .optional()
      .openapi({
        description:
          'Ask about deployments to this environment instead of pull requests. A name, not a glob. Not together with `base`',
      }),
  }),
  success: {
    status: 200,
    description: 'The state',
    schema: freezeStateSchema,
    example: {
      frozen: true,
      at: '2026-12-30T18:00:00.000Z',
      freezes: ['6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f'],
      next_transition_at: '2027-01-02T08:00:00.000Z',
      enforced: 'yes',
    },
    headers: {
      ETag: 'Of the answer without `at`',
      'Cache-Control': `\`max-age\` ends at the next transition, after ${longestAge} s at the latest`,
    },
  },
  reads({ deps, query }) {
    const now = nowOf(deps.clock);
    return freezesNotOver(readAt(query.at, now), now);
  },
  async handle({ deps, repository, query, read }) {
    const at = readAt(query.at, nowOf(deps.clock));
    const asked = readAsked(query);
    const [{ frozen, freezes, nextTransitionAt }, enforced] = await Promise.all([
      read().then((notOver) => readFrozenState(deps, repository, notOver, asked, at)),
      placeEnforcement(deps, repository, asked),
    ]);
    const answer = {
      frozen,
      at: at.toISOString(),
      freezes,
      next_transition_at: nextTransitionAt?.toISOString() ?? null,
      enforced: enforcedWords[`${enforced}`],
    };
    const ETag = tagOf({ ...answer, at: undefined });
    return new HandlerAnswer(answer, { ETag, 'Cache-Control': cacheControl(at, nextTransitionAt) });
  },
});

function readAt(sent: string | undefined, now: Date): Date {
  if (sent === undefined) return now;
  const at = new Date(sent);
  if (at >= inYears(now, -mostYears) && at <= inYears(now, mostYears)) return at;
  throw invalid([{ path: ['query', 'at'], message: atSays, type: 'value_error' }]);
}

function readAsked({ base, environment }: { base?: string; environment?: string }): FreezeQuery {
  if (environment === undefined) return { base: base ?? null };
  if (base === undefined) return { environment };
  const message = 'Send `environment` or `base`, not both: deployments have no base branch.';
  throw invalid([{ path: ['query', 'environment'], message, type: 'value_error' }]);
}

function inYears(now: Date, years: number): Date {
  const then = new Date(now);
  then.setUTCFullYear(now.getUTCFullYear() + years);
  return then;
}

const tagOf = (state: object): string =>
  `"${createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 27)}"`;

/** Counts the seconds from the requested instant, which is close enough if that is now. */
function cacheControl(at: Date, next: Date | null): string {
  const untilNext = next ? Math.floor((next.getTime() - at.getTime()) / 1000) : longestAge;
  return `private, max-age=${Math.min(longestAge, untilNext)}`;
}
