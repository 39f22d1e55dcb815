import { z } from '@hono/zod-openapi';
import { invalid } from '../../errors.ts';
import { foreseeFreeze } from '../../explanations/preview-freeze.ts';
import { previewPlan } from '../../explanations/preview-plan.ts';
import { warningTypes } from '../../freezes/freeze-warnings.ts';
import { pageAnswer, pagingHeaders, pagingQuery } from '../answers.ts';
import { endpoint } from '../endpoint.ts';
import { ownerParams, repositoryParams } from '../fields.ts';
import {
  examplePullRequest,
  exampleReason,
  passSchema,
  presentPass,
  presentPullRequest,
  presentReasons,
  pullRequestSchema,
  reason,
  verdictSchema,
} from './explain-pull-request.ts';
import { toRefuse } from './enforcement.ts';
import { accessByBody } from './freeze-plans.ts';
import { exampleFreeze, newFreeze, readNewFreeze } from './freeze-schemas.ts';
import {
  archivedField,
  exampleNewPlan,
  exampleOccurrences,
  newPlan,
  notEnforcedSchema,
  occurrences,
  planWarnings,
  presentArchived,
  presentOccurrence,
  readNewPlan,
} from './plan-schemas.ts';
import type { TimeUntilHeld } from '../../statuses/time-until-held.ts';

const { id: _id, ...example } = exampleFreeze;

const count = z.number().int();

const timeUntilHeld = z
  .object({
    seconds: count.openapi({ description: 'With instant holds as they are set' }),
    statuses_seconds: count.openapi({ description: 'Without instant holds' }),
    message: z.string(),
  })
  .optional()
  .openapi({
    description:
      'About how long it takes from the beginning until everything is blocked, by the pace of statuses. Absent if nothing would be blocked',
  });

const exampleTime = {
  seconds: 1,
  statuses_seconds: 480,
  message:
    'A ruleset blocks all 1,000 pull requests within a second. Without an instant hold, it takes about 8 minutes. Direct pushes are refused until the statuses are written.',
};

const presentTime = (found: TimeUntilHeld | null) =>
  found && {
    time_until_held: {
      seconds: found.seconds,
      statuses_seconds: found.statusesSeconds,
      message: found.message,
    },
  };

const preview = z
  .object({
    judged_at: z.iso
      .datetime()
      .openapi({ description: 'The start of the freeze, or now if the start has passed' }),
    next_change_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When time alone next changes the answer' }),
    counts: z.object({ open: count, frozen: count, excluded: count, unknown: count, not_matched: count }),
    to_refuse: toRefuse,
    warnings: z.array(z.object({ type: z.enum(warningTypes), message: z.string() })),
    time_until_held: timeUntilHeld,
    size: count,
    per_page: count,
    pull_requests: z.array(
      z.object({
        pull_request: pullRequestSchema,
        verdict: verdictSchema,
        exemption: passSchema,
        reasons: z.array(reason),
      }),
    ),
  })
  .openapi('FreezePreview');

export const previewFreezeEndpoint = endpoint({
  method: 'post',
  path: '/repos/{owner}/{repository}/scheduled_freeze/preview',
  tag: 'Scheduled freezes',
  summary: 'See which open pull requests a freeze would hold, without saving it',
  description:
    'Takes the same body as the creation. Lists the pull requests that the freeze would hold, would exclude or cannot evaluate, by number, with the conditions that decide. Only counts pull requests that do not match. Pages are linked by the `Link` header (`next`).',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: repositoryParams,
  query: z.object(pagingQuery(30)),
  body: { schema: newFreeze, example },
  isReading: true,
  success: {
    status: 200,
    description: 'What the freeze would do',
    headers: pagingHeaders,
    schema: preview,
    example: {
      judged_at: '2026-03-31T16:00:00.000Z',
      next_change_at: null,
      counts: { open: 12, frozen: 1, excluded: 0, unknown: 0, not_matched: 11 },
      to_refuse: 1,
      warnings: [],
      time_until_held: exampleTime,
      size: 1,
      per_page: 30,
      pull_requests: [{ pull_request: examplePullRequest, verdict: 'frozen', reasons: [exampleReason] }],
    },
  },
  async handle({ deps, repository, body, query, url }) {
    const page = { after: readCursor(query.cursor), size: query.per_page };
    const { affected, hasMore, ...found } = await foreseeFreeze(deps, repository, readNewFreeze(body), page);
    const answer = {
      judged_at: found.judgedAt.toISOString(),
      next_change_at: found.nextChangeAt?.toISOString() ?? null,
      counts: found.counts,
      to_refuse: found.toRefuse,
      warnings: found.warnings,
      ...presentTime(found.timeUntilHeld),
      size: affected.length,
      per_page: query.per_page,
      pull_requests: affected.map(({ pullRequest, verdict, exemption, reasons }) => ({
        pull_request: presentPullRequest(pullRequest, repository),
        verdict,
        ...presentPass(exemption),
        reasons: presentReasons(reasons).filter(({ decides }) => decides),
      })),
    };
    const next = hasMore ? String(affected.at(-1)!.pullRequest.facts.number) : null;
    return pageAnswer(url, answer, { next, prev: null });
  },
});

/** The number of the last pull request of the previous page. */
function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,10}$/.test(cursor)) return Number(cursor);
  const message = 'This is not a cursor. Follow the `Link` header of the previous page.';
  throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
}

/** How many pull requests of a repository a preview lists. */
const mostPullRequests = 100;

const planPreview = z
  .object({
    repositories: z.array(
      z.object({
        name: z.string(),
        to_hold: count,
        to_refuse: toRefuse,
        excluded: count,
        enforced: z.enum(['yes', 'no', 'unknown']),
        pull_requests: z
          .array(
            z.object({
              number: count,
              title: z.string().nullable(),
              author: z.string().nullable(),
              held: z.boolean(),
            }),
          )
          .openapi({
            description: `The first ${mostPullRequests} open pull requests. Those that the plan would hold come first`,
          }),
      }),
    ),
    repositories_matched: count,
    to_hold: count,
    to_refuse: toRefuse,
    excluded: count,
    not_enforced: notEnforcedSchema,
    ...archivedField,
    not_looked_at: z
      .array(z.string())
      .openapi({ description: 'Repositories that Holdfast could not check in time' }),
    next_occurrences: occurrences,
    warnings: planWarnings,
    time_until_held: timeUntilHeld,
  })
  .openapi('FreezePlanPreview');

export const previewPlanEndpoint = endpoint({
  method: 'post',
  path: '/freeze_plans/{owner}/preview',
  tag: 'Freeze plans',
  summary: 'See what a freeze plan would hold, without saving it',
  description: 'Takes the same body as the creation. Takes 10 s at most.',
  access: accessByBody,
  params: ownerParams,
  body: { schema: newPlan, example: exampleNewPlan },
  isReading: true,
  success: {
    status: 200,
    description: 'What the plan would do',
    schema: planPreview,
    example: {
      repositories: [
        {
          ...{ name: 'web', to_hold: 12, to_refuse: 12, excluded: 1, enforced: 'yes' },
          pull_requests: [{ number: 5, title: 'Faster search', author: 'ada', held: true }],
        },
      ],
      repositories_matched: 2,
      to_hold: 12,
      to_refuse: 12,
      excluded: 1,
      not_enforced: ['acme/attic'],
      not_looked_at: [],
      next_occurrences: exampleOccurrences,
      time_until_held: exampleTime,
    },
  },
  async handle({ deps, account, body }) {
    const found = await previewPlan(deps, account, readNewPlan(body));
    const sum = (of: (each: (typeof found.repositories)[number]) => number) =>
      found.repositories.reduce((total, each) => total + of(each), 0);
    return {
      repositories: found.repositories.map(
        ({ name, toHold, toRefuse, excluded, enforced, pullRequests }) => ({
          ...{ name, to_hold: toHold, to_refuse: toRefuse, excluded, enforced },
          pull_requests: pullRequests.slice(0, mostPullRequests),
        }),
      ),
      repositories_matched: found.matched,
      to_hold: sum(({ toHold }) => toHold),
      to_refuse: found.repositories.some((each) => each.toRefuse === null)
        ? null
        : sum((each) => each.toRefuse!),
      excluded: sum(({ excluded }) => excluded),
      not_enforced: found.notEnforced,
      ...presentArchived(found.archived),
      not_looked_at: found.notLookedAt,
      next_occurrences: found.nextOccurrences.map(presentOccurrence),
      ...(found.warnings.length > 0 && { warnings: found.warnings }),
      ...presentTime(found.timeUntilHeld),
    };
  },
});
