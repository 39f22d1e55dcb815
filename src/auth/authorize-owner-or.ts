import type { Deps } from '../deps.ts';
import { Refusal } from '../errors.ts';
import type { Account } from '../generated/prisma/client.ts';
import { type Administered, administersAll } from '../installations/administered.ts';
import { findAccount } from '../installations/find-account.ts';
import { repositoryAbsent } from '../installations/find-repository.ts';
import type { Credential } from './authenticate.ts';
import { authorizeOwner, authorizeRepository } from './authorize.ts';
import type { GitHubTokens } from './github-token.ts';

/** Of so many repositories GitHub is asked in one request: what names more is for admins of the owner. */
const mostNamed = 50;

/**
 * What a request is about, by the names of repositories, in any case of letters; null: for the owner's admins alone.
 * `all` is one thing, refused for the first repository that the caller does not administer. Of `anyOf` the caller may
 * have some, and is not told of the others.
 */
export type Asked = { all: string[] | null } | { anyOf: (string[] | null)[] };

export type AuthorizedOwner = { account: Account; administered: Administered };

/**
 * As `authorizeOwner`; and for a person who administers each of the owner's repositories that a request names.
 * @throws as `authorizeOwner`, and as `authorizeRepository` for `all`.
 */
export async function authorizeOwnerOr(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  owner: string,
  access: 'read' | 'change',
  ask: (account: Account) => Promise<Asked>,
): Promise<AuthorizedOwner> {
  try {
    return { account: await authorizeOwner(deps, tokens, credential, owner, access), administered: null };
  } catch (error) {
    const isRefused = error instanceof Refusal && error.code === 'forbidden';
    if (!isRefused || credential.kind !== 'github-token' || credential.grant.by === 'sign-in') throw error;
    const account = await findAccount(deps, owner);
    const asked = await ask(account);
    const assertOne = (name: string) => assertAdministersOwn(deps, tokens, credential, account, name);
    if ('anyOf' in asked) {
      const administered = await administeredOf(asked.anyOf, (name) =>
        assertOne(name).then(() => true, refusedAsFalse),
      );
      if (asked.anyOf.some((names) => administersAll(administered, names))) return { account, administered };
      throw error;
    }
    const names = new Set(asked.all?.map((name) => name.toLowerCase()));
    if (names.size === 0 || names.size > mostNamed) throw error;
    for (const name of names) await assertOne(name);
    return { account, administered: names };
  }
}

/** Asks of each name once, of the first that is refused of a list alone, and of so many at most. */
async function administeredOf(
  lists: (string[] | null)[],
  administers: (name: string) => Promise<boolean>,
): Promise<Set<string>> {
  const answers = new Map<string, boolean>();
  for (const names of lists)
    for (const name of names?.map((name) => name.toLowerCase()) ?? []) {
      if (!answers.has(name) && answers.size < mostNamed) answers.set(name, await administers(name));
      if (!answers.get(name)) break;
    }
  return new Set([...answers].flatMap(([name, isTheirs]) => (isTheirs ? [name] : [])));
}

/**
 * Holds for an admin of the repository that has this name now. GitHub answers for the former name of one that was
 * renamed, or moved to somebody else: an admin of that one has no rights in the next repository with the name.
 */
async function assertAdministersOwn(
  deps: Deps,
  tokens: GitHubTokens,
  credential: Credential,
  account: Account,
  name: string,
): Promise<void> {
  const path = { owner: account.login, repository: name };
  const { repository } = await authorizeRepository(deps, tokens, credential, { scope: 'admin' }, path);
  const hasName = repository.name.toLowerCase() === name.toLowerCase();
  if (repository.accountId !== account.id || !hasName) throw repositoryAbsent(account.login, name);
}

function refusedAsFalse(error: unknown): false {
  if (error instanceof Refusal && (error.code === 'forbidden' || error.code === 'not-found')) return false;
  throw error;
}
