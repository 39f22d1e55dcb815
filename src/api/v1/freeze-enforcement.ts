import { z } from '@hono/zod-openapi';
import { freezeEnforcement, type Progress } from '../../freezes/freeze-enforcement.ts';
import { endpoint } from '../endpoint.ts';
import { freezePath } from './freeze-schemas.ts';

const progress = z.object({
  to_hold: z.int().openapi({ description: 'How many the freeze holds' }),
  held: z.int().openapi({ description: 'On how many of them GitHub shows that' }),
});

const enforcement = z
  .object({
    phase: z.enum(['scheduled', 'ongoing']),
    enforced: z.boolean().openapi({
      description: 'Whether a product that enforces freezes is enabled on the repository',
    }),
    pull_requests: progress,
    merge_groups: progress,
    waiting_writes: z.int().openapi({ description: 'Statuses on these that wait to be written' }),
    waiting_since: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'Since when the oldest of them waits' }),
    looked_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: 'When all open pull requests were last looked at' }),
    look_due: z.boolean().openapi({ description: 'Whether a change since then is still to be looked at' }),
  })
  .openapi('FreezeEnforcement');

const present = ({ toHold, held }: Progress) => ({ to_hold: toHold, held });

export const freezeEnforcementEndpoint = endpoint({
  method: 'get',
  path: '/repos/{owner}/{repository}/scheduled_freeze/{freeze_id}/enforcement',
  tag: 'Scheduled freezes',
  summary: 'See how far a freeze is enforced',
  access: { to: 'repository', scope: 'admin' },
  params: freezePath,
  success: {
    status: 200,
    description: 'What the freeze should hold, what it holds, and what still waits to be written',
    schema: enforcement,
    example: {
      phase: 'ongoing',
      enforced: true,
      pull_requests: { to_hold: 120, held: 97 },
      merge_groups: { to_hold: 2, held: 2 },
      waiting_writes: 23,
      waiting_since: '2026-03-31T16:00:01.000Z',
      looked_at: '2026-03-31T16:00:02.000Z',
      look_due: false,
    },
  },
  async handle({ deps, repository, path }) {
    const found = await freezeEnforcement(deps, repository, path.freeze_id);
    return {
      phase: found.phase,
      enforced: found.isEnforced,
      pull_requests: present(found.pullRequests),
      merge_groups: present(found.mergeGroups),
      waiting_writes: found.waitingWrites,
      waiting_since: found.waitingSince?.toISOString() ?? null,
      looked_at: found.lookedAt?.toISOString() ?? null,
      look_due: found.isLookDue,
    };
  },
});
