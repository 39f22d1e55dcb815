import { z } from '@hono/zod-openapi';
import { exemptionStates } from '../../exemptions/exemption.ts';
import { attributesOfAny, type ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { mostFreezes } from '../../freezes/save-freeze.ts';
import type { NewDeploymentExemption, NewExemption } from '../../exemptions/request-exemption.ts';
import type { FoundRepository } from '../../installations/find-repository.ts';
import { deploymentsPath, pullRequestPath } from '../../page-paths.ts';
import { instantField as instantInput, textSchema, who } from '../fields.ts';
import { mostReason, publicReason } from './freeze-schemas.ts';

/** A required reason. */
export const givenReason = textSchema(mostReason, 'A reason').min(1, 'A reason has at least 1 character.');

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
  ...attributesOfAny(exemption),
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
const commit = z
  .string()
  .regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/i, 'Send the full SHA of a commit, or null.')
  .transform((sha) => sha.toLowerCase())
  .nullish();

/** What every request of an exemption has. */
const wish = {
  reason: givenReason,
  public_reason: publicReason.openapi({
    description: 'GitHub and public pages show this instead of the reason',
  }),
  expires_at: instantInput('Send an instant such as 2027-01-01T00:00:00Z, or null.').nullish().openapi({
    description: 'At most 30 days ahead. If null or absent, the exemption expires in 24 hours',
  }),
};

const readWish = (given: { reason: string; public_reason?: string | null; expires_at?: string | null }) => ({
  reason: given.reason,
  publicReason: given.public_reason ?? null,
  expiresAt: given.expires_at ? new Date(given.expires_at) : null,
});

export const newExemption = z
  .object({
    ...wish,
    freeze_ids: z
      .array(z.guid('Send the UUID of a freeze.'))
      .min(1, 'Send at least one freeze, or null for every freeze.')
      .max(mostFreezes, `Send at most ${mostFreezes} freezes, or null for every freeze.`)
      .nullish()
      .openapi({
        description: 'If null or absent, the exemption applies to every freeze, including future ones',
      }),
    any_head: z
      .boolean()
      .optional()
      .openapi({ description: 'If absent or false, a push to the pull request ends the exemption' }),
    head_sha: commit.openapi({
      description:
        'The head commit that you mean. If the pull request has another head, the answer is 409. If null or absent, the current head',
    }),
  })
  .openapi('NewExemption');

export const readNewExemption = (given: z.output<typeof newExemption>): NewExemption => ({
  ...readWish(given),
  freezeIds: given.freeze_ids ? [...new Set(given.freeze_ids.map((id) => id.toLowerCase()))] : null,
  anyHead: given.any_head ?? false,
  headSha: given.head_sha ?? null,
});

export const newDeploymentExemption = z
  .object({
    environment: textSchema(255, 'An environment').min(
      1,
      'Send the name of an environment, such as production.',
    ),
    sha: commit.openapi({ description: 'The commit that may be deployed. Send this or `run_id`' }),
    run_id: z.int().positive().nullish().openapi({
      description: 'The run of a workflow that may deploy, as in its address on GitHub. Send this or `sha`',
    }),
    ...wish,
  })
  .refine(({ sha, run_id }) => ((sha ?? null) === null) !== ((run_id ?? null) === null), {
    path: ['sha'],
    error: 'Send either sha or run_id: the commit or the run that may deploy.',
  })
  .openapi('NewDeploymentExemption');

export const readDeploymentExemption = ({
  environment,
  sha = null,
  run_id,
  ...given
}: z.output<typeof newDeploymentExemption>): NewDeploymentExemption => ({
  ...{ environment, sha, runId: typeof run_id === 'number' ? BigInt(run_id) : null },
  ...readWish(given),
});
