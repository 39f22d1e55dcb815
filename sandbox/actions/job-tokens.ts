import { randomUUID } from 'node:crypto';
import type { PullRequest, Repository } from '../state/model.ts';
import { issuerPath } from '../state/oidc-keys.ts';
import { fullNameOf, type World } from '../state/world.ts';

export interface JobOptions {
  /** The audience that the job asks for; default GitHub's own. */
  audience?: string;
  /** The whole ref; default that of the default branch. */
  ref?: string;
  environment?: string;
  event?: string;
  /** The job belongs to a `pull_request` event, or with `event` to another one of this pull request. */
  pullRequest?: number;
  workflow?: string;
  runId?: number;
  attempt?: number;
  /** Claims that GitHub would never make. The sandbox signs them anyway. */
  claims?: object;
}

/** Seconds. */
const life = 300;
const validBefore = 600;

/**
 * OIDC tokens of jobs of GitHub Actions, with the claims of GitHub's documentation ("OpenID Connect reference"). By
 * the clock of data.
 */
export function jobTokens(world: World) {
  return {
    /**
     * The token that a job with `permissions: id-token: write` gets. A `pull_request` job of a fork gets none: its
     * permissions are read-only.
     */
    jobToken(fullName: string, options: JobOptions = {}): string {
      const repository = world.repository(fullName);
      const pr = options.pullRequest === undefined ? null : world.pullRequest(fullName, options.pullRequest);
      const event = options.event ?? (pr ? 'pull_request' : 'push');
      if (pr && event === 'pull_request' && pr.head.repository !== repository)
        throw new Error('GitHub gives no OIDC token to a pull_request job of a fork');
      return world.oidcKeys.sign({ ...claimsOf(world, repository, pr, event, options), ...options.claims });
    },
    /** From now on, GitHub signs with a new key, and also shows the former ones. */
    rotateOidcKeys: () => world.oidcKeys.rotate(),
    /** From now on, GitHub shows only the key that it signs with. */
    retireOidcKeys: () => world.oidcKeys.retireFormer(),
    /** What GitHub shows of its keys. */
    oidcKeySet: () => world.oidcKeys.keySet(),
  };
}

function claimsOf(
  world: World,
  repository: Repository,
  pr: PullRequest | null,
  event: string,
  options: JobOptions,
) {
  const { owner } = repository;
  const name = fullNameOf(repository);
  const branch = `refs/heads/${repository.defaultBranch}`;
  // `pull_request_target` runs the workflow of the default branch.
  const ref = options.ref ?? (pr && event === 'pull_request' ? `refs/pull/${pr.number}/merge` : branch);
  const { environment, workflow = 'ci.yml', runId = 4711, attempt = 1 } = options;
  const workflowRef = `${name}/.github/workflows/${workflow}@${ref}`;
  const sha = pr?.head.sha ?? repository.branches.get(repository.defaultBranch)!;
  const iat = Math.floor(world.now().getTime() / 1000);
  const actor = pr?.author ?? owner;
  return {
    jti: randomUUID(),
    sub: `repo:${placeOf(repository)}:${subjectOf(environment, event, ref)}`,
    aud: options.audience ?? `${world.url}/${owner.login}`,
    ref,
    sha,
    repository: name,
    repository_owner: owner.login,
    repository_owner_id: String(owner.id),
    run_id: String(runId),
    run_number: '42',
    run_attempt: String(attempt),
    repository_visibility: repository.private ? 'private' : 'public',
    repository_id: String(repository.id),
    actor_id: String(actor.id),
    actor: actor.login,
    workflow: workflow.replace(/\.ya?ml$/, ''),
    head_ref: pr?.head.ref ?? '',
    base_ref: pr?.base ?? '',
    event_name: event,
    ref_protected: 'false',
    ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
    workflow_ref: workflowRef,
    workflow_sha: sha,
    job_workflow_ref: workflowRef,
    job_workflow_sha: sha,
    runner_environment: 'github-hosted',
    ...(environment !== undefined && { environment }),
    iss: world.url + issuerPath,
    nbf: iat - validBefore,
    exp: iat + life,
    iat,
  };
}

/** From then on, the subjects of repositories that are new or get a name have ids. */
const idsSince = Date.parse('2026-07-15T00:00:00Z');

function placeOf(repository: Repository): string {
  const { owner, name, id, namedAt } = repository;
  if (namedAt.getTime() < idsSince) return fullNameOf(repository);
  return `${owner.login}@${owner.id}/${name}@${id}`;
}

function subjectOf(environment: string | undefined, event: string, ref: string): string {
  if (environment !== undefined) return `environment:${environment.replaceAll(':', '%3A')}`;
  return event === 'pull_request' ? event : `ref:${ref}`;
}
