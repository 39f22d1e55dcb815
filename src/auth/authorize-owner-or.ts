import type { Deps } from '../deps.ts';
import { nullIf, Refusal } from '../errors.ts';
import {
  type Administered,
  administersAll,
  findAccount,
  type InstalledAccount,
} from '../installations/find-account.ts';
import { repositoryAbsent } from '../installations/find-repository.ts';
import { authorizeOwner, authorizeRepository } from './authorize.ts';
import type { Caller } from './caller.ts';
import type { Recency } from './permissions.ts';

/** The most repositories that we ask GitHub about in one request. Requests with more are for admins of the owner. */
export const mostNamed = 50;

/**
 * The repositories that a request is about, by name, ignoring case; null: only for admins of the owner. `all` is one
 * thing: it is refused for the first repository that the caller does not administer. Of `anyOf`, the caller gets those
 * that they administer, and learns nothing about the others.
 */
export type RequestedRepositories = { all: string[] | null } | { anyOf: (string[] | null)[] };

export type AuthorizedOwner = { account: InstalledAccount; administered: Administered };

/**
 * Like `authorizeOwner`, and also for a person who administers each of the owner's repositories that a request names.
 * @throws like `authorizeOwner`, and like `authorizeRepository` for `all`.
 */
export async function authorizeOwnerOr(
  deps: Deps,
  caller: Caller,
  owner: string,
  access: 'read' | 'change',
  recency: Recency,
  requested: (account: InstalledAccount) => Promise<RequestedRepositories>,
): Promise<AuthorizedOwner> {
  try {
    return {
      account: await authorizeOwner(deps, caller, owner, access, recency),
      administered: null,
    };
  } catch (error) {
    const isRefused = error instanceof Refusal && error.code === 'forbidden';
    const isPerson = 'person' in caller && !(caller.kind === 'github-token' && caller.grant.by === 'sign-in');
    if (!isRefused || !isPerson) throw error;
    const account = await findAccount(deps, owner);
    const named = await requested(account);
    const assertOne = (name: string, deps: Deps) =>
      assertAdministersOwn(deps, caller, recency, account, name);
    if ('anyOf' in named) {
      const administered = await administeredOf(named.anyOf, (name) =>
        assertOne(name, ofOthers(deps)).then(() => true, nullIf('forbidden', 'not-found')),
      );
      if (named.anyOf.some((names) => administersAll(administered, names))) return { account, administered };
      throw error;
    }
    const names = new Set(named.all?.map((name) => name.toLowerCase()));
    if (names.size === 0 || names.size > mostNamed) throw error;
    for (const name of names) await assertOne(name, deps);
    return { account, administered: names };
  }
}

/** Names that others wrote do not count for the caller. */
const ofOthers = (deps: Deps): Deps => ({
  ...deps,
  questions: deps.questions && { ...deps.questions, beforeName: async () => true },
});

/** Asks about each name once and about a limited number. In a list, the first refusal ends it. */
async function administeredOf(
  lists: (string[] | null)[],
  administers: (name: string) => Promise<boolean | null>,
): Promise<Set<string>> {
  const answers = new Map<string, boolean | null>();
  for (const names of lists)
    for (const name of names?.map((name) => name.toLowerCase()) ?? []) {
      if (!answers.has(name) && answers.size < mostNamed) answers.set(name, await administers(name));
      if (!answers.get(name)) break;
    }
  return new Set([...answers].flatMap(([name, isTheirs]) => (isTheirs ? [name] : [])));
}

/**
 * Allows an admin of the repository that has this name now. For a former name, GitHub answers with the renamed or moved
 * repository. An admin of that one has no rights in the next repository with the name.
 */
async function assertAdministersOwn(
  deps: Deps,
  caller: Caller,
  recency: Recency,
  account: InstalledAccount,
  name: string,
): Promise<void> {
  const path = { owner: account.login, repository: name };
  const { repository } = await authorizeRepository(deps, caller, { ...recency, scope: 'admin' }, path);
  const hasName = repository.name.toLowerCase() === name.toLowerCase();
  if (repository.accountId !== account.id || !hasName) throw repositoryAbsent(account.login, name);
}
