import type { Deps } from '../deps.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { isRefusal } from './repository-permission.ts';

// Fine-grained tokens and those of other Apps name no scopes. We learn what such a token can do by trying it: each of
// these questions reads something for which the token itself needs Administration.

/** `hidden`: the token cannot see it. */
export type TrialVerdict = 'yes' | 'no' | 'hidden';

type Place = Pick<FoundRepository, 'id' | 'private'>;

/** Tries whether a token can administer a repository. @throws GitHub's errors that give no verdict. */
export async function tryOnRepository(
  deps: Pick<Deps, 'github' | 'clock'>,
  token: string,
  { id, private: isPrivate }: Place,
): Promise<TrialVerdict> {
  const { request } = deps.github.asPerson(token);
  const repository_id = Number(id);
  const keys = () => request('GET /repositories/{repository_id}/keys', { repository_id, per_page: 1 });
  if (await answers(deps, keys)) return 'yes';
  if (!isPrivate) return 'no';
  const look = () => request('GET /repositories/{repository_id}', { repository_id });
  return (await answers(deps, look)) ? 'no' : 'hidden';
}

/** Tries whether a token can administer an organization. @throws as above. */
export async function tryOnOrganization(
  deps: Pick<Deps, 'github' | 'clock'>,
  token: string,
  org: string,
): Promise<TrialVerdict> {
  const { rest } = deps.github.asPerson(token);
  return (await answers(deps, () => rest.orgs.listAppInstallations({ org, per_page: 1 }))) ? 'yes' : 'no';
}

async function answers(deps: Pick<Deps, 'clock'>, question: () => Promise<unknown>): Promise<boolean> {
  try {
    await question();
    return true;
  } catch (error) {
    if (isRefusal(error, deps)) return false;
    throw error;
  }
}
