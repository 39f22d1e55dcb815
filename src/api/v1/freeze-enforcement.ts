import { z } from '@hono/zod-openapi';
import { freezeEnforcement } from '../../explanations/enforcement/progress.ts';
import { endpoint } from '../endpoint.ts';
import { freezePath } from './freeze-schemas.ts';
import {
  enforced,
  exampleHeld,
  heldFields,
  presentHeld,
  presentProgress,
  presentRefused,
  progress,
  refusedField,
} from './held-schemas.ts';

const enforcement = z
  .object({
    phase: z.enum(['scheduled', 'ongoing']),
    switched_on: z.boolean().openapi({
      description: 'Whether the repository has a product that switches freezes on',
    }),
    enforced: enforced.openapi({
      description:
        'Whether GitHub refuses to merge what this freeze holds, on every branch that it can affect. Can be up to a minute old',
    }),
    ...heldFields,
    ...refusedField,
    merge_groups: progress,
    waiting_writes: z.int().openapi({ description: 'How many of their statuses wait to be written' }),
    waiting_since: z.iso.datetime().nullable().openapi({ description: 'Since when the oldest one waits' }),
    looked_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When Holdfast last checked all open pull requests' }),
    look_due: z.boolean().openapi({ description: 'Whether Holdfast still has to check a change since then' }),
  })
  .openapi('FreezeEnforcement');

export const freezeEnforcementEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/enforcement',
  tag: 'Scheduled freezes',
  summary: 'See how much of a freeze is enforced',
  access: { to: 'repository', scope: 'admin' },
  params: freezePath,
  success: {
    status: 200,
    description: 'What the freeze should hold, what it holds, and which statuses wait to be written',
    schema: enforcement,
    example: {
      phase: 'ongoing',
      switched_on: true,
      enforced: false,
      ...exampleHeld,
      merge_groups: { to_hold: 2, held: 2 },
      waiting_writes: 0,
      waiting_since: null,
      looked_at: '2026-03-31T16:00:02.000Z',
      look_due: false,
    },
  },
  async handle({ deps, repository, path }) {
    const found = await freezeEnforcement(deps, repository, path.freeze_id);
    return {
      phase: found.phase,
      switched_on: found.isOn,
      enforced: found.enforced,
      ...presentHeld(found.held, found.isJudged),
      ...(await presentRefused(deps)),
      merge_groups: presentProgress(found.mergeGroups, found.isJudged),
      waiting_writes: found.waitingWrites,
      waiting_since: found.waitingSince?.toISOString() ?? null,
      looked_at: found.lookedAt?.toISOString() ?? null,
      look_due: found.isLookDue,
    };
  },
});
