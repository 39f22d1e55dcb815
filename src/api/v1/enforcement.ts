import { z } from '@hono/zod-openapi';
import { checks, states } from '../../explanations/enforcement/finding.ts';
import { nowOf } from '../../clock.ts';
import { hasUnjudged } from '../../freezes/list-freezes.ts';
import { lookAtEnforcement } from '../../explanations/enforcement/recent-enforcement.ts';
import { endpoint } from '../endpoint.ts';
import { repositoryPath } from '../path-params.ts';
import {
  enforced,
  exampleHeld,
  heldFields,
  presentHeld,
  presentRefused,
  refusedField,
} from './held-schemas.ts';

const finding = z
  .object({
    check: z.enum(checks).openapi({ description: 'What was checked' }),
    state: z
      .enum(states)
      .openapi({ description: '`unknown` means that GitHub did not show it, so it is not `ok`' }),
    branch: z.string().optional().openapi({ description: 'The branch that the finding is about' }),
    message: z.string(),
    remedy: z.string().nullable().openapi({ description: 'What to click or call' }),
  })
  .openapi('Finding');

const report = z
  .object({
    enforced: enforced.openapi({
      description:
        'Whether GitHub refuses to merge what a freeze holds, on every branch that a freeze can affect',
    }),
    checked_at: z.iso.datetime(),
    ...heldFields,
    ...refusedField,
    findings: z.array(finding),
  })
  .openapi('Enforcement');

export const enforcementEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/enforcement',
  tag: 'Scheduled freezes',
  summary: 'See whether freezes of a repository are enforced',
  description:
    'Asks GitHub whether each branch that a freeze can affect requires the status check, with this App as its source and for merge groups too. Also checks who can bypass it, whether the App has its permissions and events, whether webhooks arrive, whether the clock is right, and how much of the rate limit is left. Changes nothing.',
  access: { to: 'repository', scope: 'admin' },
  params: repositoryPath,
  success: {
    status: 200,
    description: 'The findings',
    schema: report,
    example: {
      enforced: false,
      checked_at: '2026-03-01T09:00:00.000Z',
      ...exampleHeld,
      findings: [
        {
          check: 'required_check',
          state: 'failed',
          branch: 'main',
          message:
            'main does not require holdfast/freeze, so pull requests can merge into it during a freeze.',
          remedy:
            'Require holdfast/freeze at https://github.com/acme/web/settings/rules/new?target=branch, or as an admin: curl …',
        },
      ],
    },
  },
  async handle({ deps, repository }) {
    const { enforced, checkedAt, held, findings } = await lookAtEnforcement(deps, repository);
    const isJudged = !(await hasUnjudged(deps.db, repository, nowOf(deps.clock)));
    return {
      enforced,
      checked_at: checkedAt.toISOString(),
      ...presentHeld(held, isJudged),
      ...(await presentRefused(deps)),
      findings,
    };
  },
});
