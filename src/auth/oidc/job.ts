import { z } from 'zod';

/** A job of GitHub Actions, as its OIDC token describes it. */
export type Job = {
  /** `owner/name` when the token was made. */
  repository: string;
  repositoryId: bigint;
  ownerId: bigint;
  /** The whole ref: `refs/heads/main`, `refs/pull/5/merge`. */
  ref: string;
  /** null: the job has none. */
  environment: string | null;
  /** The event that started the run, such as `push`. */
  event: string;
  /** The file of the workflow, such as `release.yml`. */
  workflow: string;
  runId: string;
  attempt: string;
};

const id = z.string().regex(/^\d{1,18}$/);
const name = z.string().min(1);

/** The claims that we read. GitHub sends all of them as texts. */
const claims = z.object({
  repository: z.string().regex(/^[^/]+\/[^/]+$/),
  repository_id: id,
  repository_owner_id: id,
  ref: name,
  environment: name.optional(),
  event_name: name,
  workflow_ref: name,
  run_id: id,
  run_attempt: id,
});

/** Reads the claims of a verified token. @returns null if a required claim is missing. */
export function jobOf(payload: unknown): Job | null {
  const { data } = claims.safeParse(payload);
  if (!data) return null;
  return {
    repository: data.repository,
    repositoryId: BigInt(data.repository_id),
    ownerId: BigInt(data.repository_owner_id),
    ref: data.ref,
    environment: data.environment ?? null,
    event: data.event_name,
    // `acme/web/.github/workflows/release.yml@refs/heads/main`
    workflow: data.workflow_ref.replace(/@.*$/s, '').replace(/^.*\//s, ''),
    runId: data.run_id,
    attempt: data.run_attempt,
  };
}
