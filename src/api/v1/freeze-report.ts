import { z } from '@hono/zod-openapi';
import { requireAnyFreeze } from '../../freezes/restore-freeze.ts';
import { readReport } from '../../reports/freeze-report.ts';
import { endpoint } from '../endpoint.ts';
import { who } from '../fields.ts';
import { freezeParams } from './freeze-schemas.ts';

const seconds = (description: string) => z.int().nullable().openapi({ description });
const about = {
  pull_request: z.int().nullable(),
  environment: z.string().nullable().openapi({ description: 'Of a deployment; null for a pull request' }),
};

const schema = z
  .object({
    pull_requests: z.object({
      held: z.int().openapi({
        description:
          'How many pull requests the freeze held, at any time, without those that GitHub would have merged',
      }),
      median_wait_seconds: seconds('How long it held half of them at most'),
      longest_wait_seconds: seconds('How long it held the one that waited the longest'),
      longest: z.int().nullable().openapi({ description: 'The pull request that waited the longest' }),
    }),
    thaw: z
      .object({
        waiting: z.int().openapi({ description: 'How many pull requests it held until its end' }),
        closed: z.int().openapi({ description: 'How many of these were merged or closed since' }),
        median_seconds: seconds('After the end, when half of these were'),
        last_seconds: seconds('After the end, when the last of these was'),
      })
      .openapi({ description: 'What became of the pull requests that waited' }),
    exemptions: z
      .array(
        z.object({
          ...about,
          reason: z.string(),
          requested_by: who,
          approved_by: who.nullable(),
          approved_at: z.iso.datetime(),
          used_at: z.iso.datetime().nullable(),
        }),
      )
      .openapi({ description: 'What was let through the freeze: the newest 100' }),
    exemptions_count: z.int().openapi({ description: 'How many were let through in all' }),
    bypasses: z
      .array(z.object({ ...about, by: who.nullable(), at: z.iso.datetime() }))
      .openapi({ description: 'What was merged or deployed past the freeze: the newest 100' }),
    bypasses_count: z.int().openapi({ description: 'How many were merged or deployed past it in all' }),
    deployments_held: z.int(),
  })
  .openapi('FreezeReport');

export const freezeReportEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/report',
  tag: 'Scheduled freezes',
  summary: 'See what a freeze did and what it cost',
  description:
    'Also of a freeze that has ended or was deleted. A day after its end, Holdfast keeps the report, which then no longer changes.',
  access: { to: 'repository', scope: 'admin', role: 'freezer' },
  params: freezeParams,
  exists: ({ deps, repository, path }) => requireAnyFreeze(deps, repository, path.freeze_id),
  success: {
    status: 200,
    description: 'The report, as of now',
    schema,
    example: {
      pull_requests: { held: 27, median_wait_seconds: 7320, longest_wait_seconds: 29_460, longest: 12 },
      thaw: { waiting: 26, closed: 20, median_seconds: 720, last_seconds: 10_800 },
      exemptions: [
        {
          pull_request: 41,
          environment: null,
          reason: 'Fixes the login',
          requested_by: { type: 'user', id: 2, name: 'bob' },
          approved_by: { type: 'user', id: 1, name: 'ada' },
          approved_at: '2026-03-31T16:20:00.000Z',
          used_at: '2026-03-31T16:24:00.000Z',
        },
      ],
      exemptions_count: 1,
      bypasses: [],
      bypasses_count: 0,
      deployments_held: 2,
    },
  },
  handle: async ({ deps, path }) => schema.parse(await readReport(deps, path.freeze_id)),
});
