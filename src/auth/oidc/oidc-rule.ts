import { z } from 'zod';
import { compileGlob } from '../../conditions/patterns/compile-glob.ts';
import { compileNameGlob } from '../../conditions/patterns/compile-name-glob.ts';
import type { TextTest } from '../../conditions/ast.ts';
import type { Actor } from '../../events/actor.ts';

/** A job of GitHub Actions, as its OIDC token describes it. */
export type JobOfToken = {
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
export function jobInToken(payload: unknown): JobOfToken | null {
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

/** What a rule allows a job. Each value includes those before it. */
export const jobPermissions = ['push_scopes', 'freeze'] as const;
export type JobPermission = (typeof jobPermissions)[number];

/** Lets in jobs of an owner's repositories. The lists are globs; null: any. */
export type OidcRule = {
  id: string;
  name: string;
  repositories: string[] | null;
  refs: string[] | null;
  environments: string[] | null;
  may: JobPermission[];
  createdAt: Date;
  createdBy: Actor;
};

/** The rule that counts for a job: of the matching rules, the first of those that allow most. */
export function ruleFor(job: JobOfToken, rules: OidcRule[]): OidcRule | null {
  const matching = rules.filter((rule) => matches(rule, job));
  return matching.find(({ may }) => may.includes('freeze')) ?? matching[0] ?? null;
}

function matches({ repositories, refs, environments }: OidcRule, job: JobOfToken): boolean {
  const name = job.repository.slice(job.repository.indexOf('/') + 1);
  return (
    holds(repositories, compileNameGlob, name) &&
    holds(refs, compileGlob, codeRefOf(job)) &&
    holds(environments, compileNameGlob, job.environment)
  );
}

/**
 * The ref whose code runs, as far as the token says. A run of `pull_request_target` has the ref of a branch, but a pull
 * request started it, perhaps a stranger's, and it can check out that code.
 */
const codeRefOf = ({ event, ref }: JobOfToken): string | null =>
  event === 'pull_request_target' ? null : ref;

const holds = (globs: string[] | null, compile: (glob: string) => TextTest, text: string | null): boolean =>
  globs === null || (text !== null && globs.some((glob) => compile(glob)(text)));
