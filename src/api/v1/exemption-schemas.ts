import { z } from '@hono/zod-openapi';
import { exemptionStates } from '../../freezes/exemptions/exemption.ts';
import type { ExemptionRecord } from '../../freezes/exemptions/exemption-store.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { deploymentsPath, pullRequestPath } from '../../installations/page-paths.ts';
import { instant as instantInput, text, owner, repository, uuid, who } from '../fields.ts';
import { mostReason, publicReason } from './freeze-schemas.ts';

/** A required reason. */
export const givenReason = text(mostReason, 'A reason').min(1, 'A reason has at least 1 character.');

const instant = z.iso.datetime();

const common = {
  reason: z.string(),
  public_reason: z.string().nullable(),
  state: z.enum(exemptionStates),
  requested_by: who,
  requested_at: instant,
  decided_by: z.union([who, z.null()]).openapi({ description: 'Who approved, denied or revoked it last' }),
  decided_at: instant.nullable(),
  decision_reason: z.string().nullable(),
  expires_at: instant,
};

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
    ...common,
    used_at: instant.nullable().openapi({ description: 'When the pull request was merged' }),
    url: z.url().openapi({ description: 'The page of the pull request' }),
  })
  .openapi('Exemption');

export const deploymentExemptionSchema = z
  .object({
    id: z.uuid(),
    environment: z.string(),
    sha: z.string().nullable().openapi({ description: 'The commit; null for an exemption of a run' }),
    run_id: z.int().nullable().openapi({
      description: 'The run. For an exemption of a commit, the run that went out with it, if one did',
    }),
    ...common,
    used_at: instant.nullable().openapi({ description: 'When the deployment was approved' }),
    url: z.url().openapi({ description: 'The page of the repository' }),
  })
  .openapi('DeploymentExemption');

const ada = { type: 'user', id: 1, name: 'ada' } as const;

const exampleOfAny = {
  id: '0b9d1e5e-7a3f-4f0e-9f49-2f2f9a2b8c11',
  reason: 'INC-4711 fix',
  public_reason: null,
  state: 'approved' as const,
  requested_by: ada,
  requested_at: '2026-03-01T09:00:00.000Z',
  decided_by: ada,
  decided_at: '2026-03-01T09:00:00.000Z',
  decision_reason: null,
  expires_at: '2026-03-02T09:00:00.000Z',
  used_at: null,
};

export const exampleExemption: z.input<typeof exemptionSchema> = {
  ...exampleOfAny,
  pull_request: 5,
  head_sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  any_head: false,
  freeze_ids: null,
  url: 'https://holdfast.example/repos/acme/web/pulls/5',
};

export const exampleDeploymentExemption: z.input<typeof deploymentExemptionSchema> = {
  ...exampleOfAny,
  environment: 'production',
  sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  run_id: null,
  url: 'https://holdfast.example/repos/acme/web#deployments',
};

const presentAny = (exemption: ExemptionRecord) => ({
  id: exemption.id,
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
});

type Present<Schema extends z.ZodType> = (
  exemption: ExemptionRecord,
  place: FoundRepository,
  publicUrl: string,
) => z.input<Schema>;

export const presentExemption: Present<typeof exemptionSchema> = (exemption, place, publicUrl) => ({
  ...presentAny(exemption),
  pull_request: exemption.pullRequest,
  head_sha: exemption.headSha,
  any_head: exemption.anyHead,
  freeze_ids: exemption.freezeIds,
  url: publicUrl + pullRequestPath(place, exemption.pullRequest),
});

export const presentDeploymentExemption: Present<typeof deploymentExemptionSchema> = (
  exemption,
  place,
  publicUrl,
) => {
  const { environment, sha, runId } = exemption.deployment!;
  return {
    ...presentAny(exemption),
    ...{ environment, sha, run_id: runId === null ? null : Number(runId) },
    url: publicUrl + deploymentsPath(place),
  };
};

/** The full SHA of a commit. */
export const commit = z
  .string()
  .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/i, 'Send the full SHA of a commit, or null.')
  .transform((sha) => sha.toLowerCase())
  .nullish();

/** What every request of an exemption has. */
export const wish = {
  reason: givenReason,
  public_reason: publicReason.openapi({
    description: 'GitHub and public pages show this instead of the reason',
  }),
  expires_at: instantInput('Send an instant such as 2027-01-01T00:00:00Z, or null.').nullish().openapi({
    description: 'At most 30 days ahead. If null or absent, the exemption expires in 24 hours',
  }),
};

export const readWish = (given: {
  reason: string;
  public_reason?: string | null;
  expires_at?: string | null;
}) => ({
  reason: given.reason,
  publicReason: given.public_reason ?? null,
  expiresAt: given.expires_at ? new Date(given.expires_at) : null,
});

export const exemptionPath = z.object({ owner, repository, exemption_id: uuid('exemption_id') });
