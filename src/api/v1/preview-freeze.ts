import { z } from '@hono/zod-openapi';
import { invalid } from '../../errors.ts';
import { previewFreeze } from '../../explanations/preview-freeze.ts';
import { warningTypes } from '../../freezes/freeze-warnings.ts';
import { endpoint, HandlerAnswer } from '../endpoint.ts';
import { linkHeader, linkHeaderDescription, pagingQuery } from '../paging.ts';
import { repositoryPath } from '../fields.ts';
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
} from './explain-pull-request.ts';
import { exampleFreeze, newFreeze, readNewFreeze } from './freeze-schemas.ts';

const { id: _id, ...example } = exampleFreeze;

const count = z.number().int();

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
    warnings: z.array(z.object({ type: z.enum(warningTypes), message: z.string() })),
    size: count,
    per_page: count,
    pull_requests: z.array(
      z.object({
        pull_request: pullRequestSchema,
        verdict,
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
  params: repositoryPath,
  query: z.object(pagingQuery(30)),
  body: { schema: newFreeze, example },
  isReading: true,
  success: {
    status: 200,
    description: 'What the freeze would do',
    headers: { Link: linkHeaderDescription },
    schema: preview,
    example: {
      judged_at: '2026-03-31T16:00:00.000Z',
      next_change_at: null,
      counts: { open: 12, frozen: 1, excluded: 0, unknown: 0, not_matched: 11 },
      warnings: [],
      size: 1,
      per_page: 30,
      pull_requests: [{ pull_request: examplePullRequest, verdict: 'frozen', reasons: [exampleReason] }],
    },
  },
  async handle({ deps, repository, body, query, url }) {
    const page = { after: readCursor(query.cursor), size: query.per_page };
    const { affected, hasMore, ...found } = await previewFreeze(deps, repository, readNewFreeze(body), page);
    const answer = {
      judged_at: found.judgedAt.toISOString(),
      next_change_at: found.nextChangeAt?.toISOString() ?? null,
      counts: found.counts,
      warnings: found.warnings,
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
    return new HandlerAnswer(200, answer, linkHeader(url, { next }));
  },
});

/** The number of the last pull request of the previous page. */
function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,10}$/.test(cursor)) return Number(cursor);
  const message = 'This is not a cursor. Follow the `Link` header of the previous page.';
  throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
}
