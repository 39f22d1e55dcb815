import { ParseError } from '../conditions/scanner.ts';
import { forbidden, nullIf, Refusal, refusedIf } from '../errors.ts';
import { type Administered, findAccount, type InstalledAccount } from '../installations/find-account.ts';
import { repositoryAbsent } from '../installations/find-repository.ts';
import { readOwnerSettings } from '../settings/settings.ts';
import { namedBy, plainNames, repositoriesOfOwner } from '../plans/matched-repositories.ts';
import type { Plan } from '../plans/plan.ts';
import { authorizeOwner, authorizeReader, authorizeRepository } from './authorize.ts';
import type { PersonCaller, Caller } from './caller.ts';
import { hasScope, lacksScope } from './github-token.ts';
import type { Recency } from './permissions.ts';
import { whyRoleLacks, withRoles } from './role-verdict.ts';
import type { AuthDeps } from './auth-deps.ts';

/** The most repositories that we ask GitHub about in one request. Requests with more are for admins of the owner. */
export const mostRepositoriesAuthorized = 50;

/** Repositories of an owner, by names or globs, as plans name them. */
export type Selection = Plan['repositories'];

/**
 * The repositories that a request is about; null: only for admins of the owner. `all` is one thing: it is refused for
 * the first repository that the caller may not freeze. Of `anyOf`, by id, the caller gets those that are all theirs, and
 * learns nothing about the others.
 */
export type RequestedRepositories = { all: Selection | null } | { anyOf: Map<string, Selection> };

/** @property allowed the ids of `anyOf` that the caller gets; null for all of them. */
export type AuthorizedOwner = {
  account: InstalledAccount;
  administered: Administered;
  allowed: ReadonlySet<string> | null;
};

/** Whose rights in which owner. */
type Asking = { deps: AuthDeps; caller: PersonCaller; recency: Recency; account: InstalledAccount };

/**
 * Like `authorizeOwner`, and also for a person who may freeze everything that a request is about: as an admin or freezer
 * of each repository that it names, or with patterns as a freezer of the owner who can read each match.
 * @throws like `authorizeOwner`, and like `authorizeRepository` for `all`.
 */
export async function authorizeOwnerOr(
  deps: AuthDeps,
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
      allowed: null,
    };
  } catch (error) {
    const isRefused = error instanceof Refusal && error.code === 'forbidden';
    const isPerson = 'person' in caller && !(caller.kind === 'github-token' && caller.grant.by === 'sign-in');
    if (!isRefused || !isPerson) throw error;
    const account = await findAccount(deps, owner);
    const named = await requested(account);
    const asking = { deps, caller, recency, account };
    if ('anyOf' in named) {
      const allowed = await allowedOf({ ...asking, deps: ofOthers(deps) }, named.anyOf);
      if (allowed.size > 0) return { account, administered: new Set(), allowed };
      throw error;
    }
    const isTheirs =
      named.all && (await mayFreeze(asking, named.all, error, (_, ask) => ask().then(() => true)));
    if (!named.all || !isTheirs) throw error;
    const names = plainNames(named.all.include);
    return { account, administered: names && new Set(names.map(lower)), allowed: null };
  }
}

/** Names that others wrote do not count for the caller. */
const ofOthers = (deps: AuthDeps): AuthDeps => ({
  ...deps,
  questions: deps.questions && { ...deps.questions, beforeName: async () => true },
});

const lower = (name: string): string => name.toLowerCase();

/** The selections that are all the caller's. Asks each question once, and a limited number of them. */
async function allowedOf(asking: Asking, selections: Map<string, Selection>): Promise<Set<string>> {
  const answers = new Map<string, boolean>();
  const once: Ask = async (what, ask) => {
    if (!answers.has(what) && answers.size < mostRepositoriesAuthorized)
      answers.set(what, (await ask().then(() => true, nullIf('forbidden', 'not-found'))) ?? false);
    return answers.get(what) ?? false;
  };
  const allowed = new Set<string>();
  const refusal = forbidden('');
  for (const [id, selection] of selections)
    if (await mayFreeze(asking, selection, refusal, once)) allowed.add(id);
  return allowed;
}

/** Answers a question that refuses the caller if the answer is no. @param what the same for the same question. */
type Ask = (what: string, ask: () => Promise<unknown>) => Promise<boolean>;

/** Whether a person may freeze a selection. Ends with the first no. @param notAdmin why they are no admin of the owner. */
async function mayFreeze(
  asking: Asking,
  selection: Selection,
  notAdmin: Refusal,
  ask: Ask,
): Promise<boolean> {
  const all = async (names: Iterable<string>, what: string, assert: (name: string) => Promise<unknown>) => {
    for (const name of names) if (!(await ask(`${what} ${name}`, () => assert(name)))) return false;
    return true;
  };
  const plain = plainNames(selection.include);
  if (plain) {
    const names = new Set(plain.map(lower));
    if (names.size === 0 || names.size > mostRepositoriesAuthorized) return false;
    return all(names, 'freeze', (name) => assertFreezesOwn(asking, name));
  }
  if (!(await ask('freeze all', () => assertFreezer(asking, notAdmin)))) return false;
  const closed = await privateOnes(asking, selection);
  return all(closed, 'read', (name) => assertReads(asking, name));
}

/**
 * Allows an admin or a freezer of the repository that has this name now. For a former name, GitHub answers with the
 * renamed or moved repository. An admin of that one has no rights in the next repository with the name.
 */
async function assertFreezesOwn({ deps, caller, recency, account }: Asking, name: string): Promise<void> {
  const path = { owner: account.login, repository: name };
  const audience = { ...recency, scope: 'admin', role: 'freezer' } as const;
  const { repository } = await authorizeRepository(deps, caller, audience, path);
  const hasName = repository.name.toLowerCase() === name.toLowerCase();
  if (repository.accountId !== account.id || !hasName) throw repositoryAbsent(account.login, name);
}

/** Which of these a person may not freeze: repositories that are absent to them, and others. Errors as `authorizeRepository`. */
export async function refusedAmong(
  asking: Asking,
  names: string[],
): Promise<{ absent: string[]; lacking: string[] }> {
  const [absent, lacking]: [string[], string[]] = [[], []];
  for (const name of names) {
    const refusal = await assertFreezesOwn(asking, name).catch(refusedIf('forbidden', 'not-found'));
    if (refusal) (refusal.code === 'not-found' ? absent : lacking).push(name);
  }
  return { absent, lacking };
}

/** Allows somebody to whom the owner's settings give the role of a freezer. @throws Refusal forbidden; unavailable. */
async function assertFreezer({ deps, caller, recency, account }: Asking, notAdmin: Refusal): Promise<void> {
  const { freezers } = await readOwnerSettings(deps.db, account.id);
  const place = { account, installation: account.installation };
  const why = await whyRoleLacks(deps, caller, place, 'freezer', freezers, false, recency);
  if (why !== null) throw withRoles(notAdmin, why);
  if (
    caller.kind === 'github-token' &&
    caller.grant.by === 'scopes' &&
    !hasScope(caller.grant.scopes, 'repo')
  )
    throw lacksScope(deps, caller.token, 'repo', 'a role');
}

/** The private repositories that a selection matches now. @throws Refusal forbidden if there are too many to ask about. */
async function privateOnes({ deps, account }: Asking, selection: Selection): Promise<string[]> {
  const matched = await matchedNow(deps, selection, account);
  const closed = await deps.db.repository.findMany({
    where: { id: { in: matched.map(({ id }) => id) }, private: true },
    select: { name: true },
  });
  if (closed.length <= mostRepositoriesAuthorized) return closed.map(({ name }) => name);
  throw forbidden(
    `This pattern matches more than ${mostRepositoriesAuthorized} private repositories, and Holdfast must check that you can read each. Match fewer, or ask an admin of ${account.login}.`,
  );
}

/** The repositories that a selection matches; none if it has a bad glob, which is refused later. */
async function matchedNow({ sql }: AuthDeps, selection: Selection, { id }: InstalledAccount) {
  const all = await repositoriesOfOwner(sql, id);
  try {
    return namedBy({ repositories: selection }, all);
  } catch (error) {
    if (error instanceof ParseError) return [];
    throw error;
  }
}

/** The refusal names no repository: the caller may not know that it exists. @throws Refusal forbidden. */
async function assertReads({ deps, caller, recency, account }: Asking, name: string): Promise<void> {
  const path = { owner: account.login, repository: name };
  const { releases } = recency;
  const reading = authorizeReader(ofOthers(deps), caller, path, { releases });
  if (await reading.catch(nullIf('forbidden', 'not-found'))) return;
  throw forbidden(
    `This pattern matches a private repository that ${caller.person.login} cannot read. Leave it out, or ask an admin of ${account.login}.`,
  );
}
