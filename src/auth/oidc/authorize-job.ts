import type { Deps } from '../../deps.ts';
import { forbidden } from '../../errors.ts';
import { findRepository, type FoundRepository } from '../../installations/find-repository.ts';
import type { JobCaller } from '../caller.ts';
import type { RepositoryPath } from '../key-rows.ts';
import type { JobPermission } from './oidc-rule.ts';

/**
 * The repository of the path, for one of its jobs whose rule allows this.
 * @throws Refusal forbidden, also for every other repository, whether it exists or not; not-found if the App is not
 *   installed; unavailable.
 */
export async function repositoryOfJob(
  deps: Deps,
  { job, rule }: JobCaller,
  permission: JobPermission,
  { owner, repository: name }: RepositoryPath,
): Promise<FoundRepository> {
  if (!rule.may.includes(permission))
    throw forbidden(
      `The OIDC rule ${rule.name} does not let jobs do this: it needs ${permission} in its may. Ask an admin of the owner.`,
    );
  // We look up no name that the token does not have. A name can get another owner, so the ids decide.
  if (`${owner}/${name}`.toLowerCase() !== job.repository.toLowerCase()) throw notItsOwn(job.repository);
  const repository = await findRepository(deps, owner, name);
  if (repository.id !== job.repositoryId || repository.accountId !== job.ownerId)
    throw notItsOwn(job.repository);
  return repository;
}

const notItsOwn = (repository: string) =>
  forbidden(
    `An OIDC token is valid only for the repository of its job: ${repository}, as GitHub knew it when it made the token.`,
  );
