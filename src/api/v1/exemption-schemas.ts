import { z } from '@hono/zod-openapi';
import { exemptionStates } from '../../exemptions/exemption.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { pullRequestPath } from '../../installations/page-paths.ts';
import { text, owner, repository, uuid, who } from '../fields.ts';
import { mostReason } from './freeze-schemas.ts';

/** A required reason. */
export const givenReason = text(mostReason, 'A reason').min(1, 'A reason has at least 1 character.');

const instant = z.iso.datetime();

export const exemptionSchema = z
  .object({
    id: z.uuid(),
    pull_request: z.number().int(),
    head_sha: z.string().openapi({ description: 'The head commit at the time of the request' }),
    any_head: z
      .boolean()
      .openapi({ description: 'Whether the exemption also applies to later head commits' }),
    freeze_ids: z.array(z.uuid()).nullable().openapi({
      description:
        'The freezes that the exemption applies to. null means every freeze, including future ones',
    }),
    reason: z.string(),
    public_reason: z.string().nullable(),
    state: z.enum(exemptionStates),
    requested_by: who,
    requested_at: instant,
    decided_by: z.union([who, z.null()]).openapi({ description: 'Who approved, denied or revoked it last' }),
    decided_at: instant.nullable(),
    decision_reason: z.string().nullable(),
    expires_at: instant,
    used_at: instant.nullable().openapi({ description: 'When the pull request was merged' }),
    url: z.url().openapi({ description: 'The page of the pull request' }),
  })
  .openapi('Exemption');

const ada = { type: 'user', id: 1, name: 'ada' } as const;

export const exampleExemption: z.input<typeof exemptionSchema> = {
  id: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  pull_request: 5,
  head_sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  any_head: false,
  freeze_ids: null,
  reason: 'INC-4711 fix',
  public_reason: null,
  state: 'approved',
  requested_by: ada,
  requested_at: '2026-03-01T09:00:00.000Z',
  decided_by: ada,
  decided_at: '2026-03-01T09:00:00.000Z',
  decision_reason: null,
  expires_at: '2026-03-02T09:00:00.000Z',
  used_at: null,
  url: 'https://holdfast.example/repos/acme/web/pulls/5',
};

export const presentExemption = (
  exemption: ExemptionRecord,
  place: FoundRepository,
  publicUrl: string,
): z.input<typeof exemptionSchema> => ({
  id: exemption.id,
  pull_request: exemption.pullRequest,
  head_sha: exemption.headSha,
  any_head: exemption.anyHead,
  freeze_ids: exemption.freezeIds,
  reason: exemption.reason,
  public_reason: exemption.publicReason,
  state: exemption.state,
  requested_by: exemption.requestedBy,
  requested_at: exemption.requestedAt.toISOString(),
  decided_by: exemption.decidedBy,
  decided_at: exemption.decidedAt?.toISOString() ?? null,
  decision_reason: exemption.decisionReason,
  expires_at: exemption.expiresAt.toISOString(),
  used_at: exemption.usedAt?.toISOString() ?? null,
  url: publicUrl + pullRequestPath(place, exemption.pullRequest),
});

export const exemptionPath = z.object({ owner, repository, exemption_id: uuid('exemption_id') });
