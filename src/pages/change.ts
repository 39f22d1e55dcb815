// The one way by which a form of a page changes something. In this order, and nothing is changed before all of it holds:
//  1. The form was sent from a page of ours: browsers say so (`Sec-Fetch-Site`, else `Origin`) and cannot be made to lie.
//     The session's cookie is SameSite=Lax besides, so that other sites' forms come without it.
//  2. Somebody is signed in. A session only says who that is: it gives no right.
//  3. GitHub says now, for that person, that they may: what it said before does not count, and while it does not answer
//     nothing is changed.
//  4. The change is a use case of the API's, with the person as the actor, and so with its event in the audit log.
import type { Context, Handler } from 'hono';
import { repositoryPath } from '../api/path-params.ts';
import { assertStorable, readLimited } from '../api/read-body.ts';
import type { Person } from '../auth/github-token.ts';
import { readSession } from '../auth/sign-in/read-session.ts';
import { countChange } from '../auth/sign-in/repository-readers.ts';
import { forbidden, Refusal, refusalStatus } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { knownAccount, type InstalledAccount } from '../installations/find-account.ts';
import type { Administered } from '../installations/administered.ts';
import { type FoundRepository, fullName, knownRepository } from '../installations/find-repository.ts';
import { ownFormsOnly } from '../own-forms.ts';
import { signInPath } from '../page-paths.ts';
import { type Message, messagePage } from './message-page.ts';
import { pageBefore } from './page-before.ts';
import { absentPage, forRequest, type PageDeps, rememberReader } from './reader.ts';

/** A form that somebody sent, and who they are. */
export type Sent = {
  /** Its questions to GitHub are counted as this person's. */
  deps: PageDeps;
  context: Context;
  person: Person;
  /** The person as the audit log names them. */
  actor: Actor;
  form: URLSearchParams;
};

/** A change of a repository that GitHub lets the person make. */
export type RepositoryChange = Sent & {
  repository: FoundRepository;
  /** Why the person is no admin of it, where writers may make the change too; null for admins. */
  notAdmin: Refusal | null;
};

/** A change of what belongs to an owner that GitHub lets the person make. */
export type OwnerChange = Sent & { account: InstalledAccount; administered: Administered };

/**
 * Handles a form about the repository of the path (`:owner`, `:repository`).
 * @param least who may send it: admins of the repository, or also who can write to it.
 */
export const repositoryForm = (
  deps: PageDeps,
  least: 'admin' | 'write',
  change: (change: RepositoryChange) => Promise<Response>,
): Handler =>
  guarded(deps, async (sent) => {
    const { context, person } = sent;
    const path = repositoryPath.safeParse(context.req.param());
    const repository = path.success
      ? await knownRepository(sent.deps, path.data.owner, path.data.repository)
      : null;
    const permission =
      repository && (await deps.readers.permission(sent.deps, person, repository, 'refresh'));
    if (!repository || permission === 'none') return absentPage(deps, context, person);
    const name = fullName(repository);
    if (permission !== 'admin' && least === 'admin')
      throw forbidden(`On GitHub, you aren't an admin of ${name}. Ask one.`);
    if (permission === 'read') throw forbidden(`On GitHub, you can't write to ${name}. Ask an admin of it.`);
    await rememberReader(sent.deps, person);
    const notAdmin =
      permission === 'admin' ? null : forbidden(`${person.login} is not an admin of ${name} on GitHub.`);
    return change({ ...sent, repository, notAdmin });
  });

/** More repositories than these are for admins of the owner: GitHub is asked of each. */
const mostNamed = 50;

/**
 * Handles a form about what belongs to the owner of the path (`:owner`), for its admins; and for people who administer
 * each of the repositories that it is about.
 * @param named the names of those repositories, in any case of letters; null where only the owner's admins may.
 */
export const ownerForm = (
  deps: PageDeps,
  named: (sent: Sent & { account: InstalledAccount }) => Promise<string[] | null>,
  change: (change: OwnerChange) => Promise<Response>,
): Handler =>
  guarded(deps, async (sent) => {
    const { context, person } = sent;
    const owner = context.req.param('owner') ?? '';
    // The same for an owner that is not there: who may not change anything learns nothing.
    const notYours = forbidden(
      `On GitHub, you aren't an admin of ${owner}, or Holdfast isn't installed there.`,
    );
    const account = await knownAccount(sent.deps, owner);
    if (!account) throw notYours;
    let administered: Administered = null;
    if (!(await deps.readers.isOwnerAdmin(sent.deps, person, account, 'refresh'))) {
      const names = new Set((await named({ ...sent, account }))?.map((name) => name.toLowerCase()));
      const isFew = names.size > 0 && names.size <= mostNamed;
      if (!isFew || !(await administersEach(sent, account, names))) throw notYours;
      administered = names;
    }
    await rememberReader(sent.deps, person);
    return change({ ...sent, account, administered });
  });

/** A login may have changed hands: the repositories of whoever had it before are not this owner's. */
async function administersEach({ deps, person }: Sent, account: InstalledAccount, names: Set<string>) {
  for (const name of names) {
    const repository = await knownRepository(deps, account.login, name);
    if (repository?.accountId !== account.id) return false;
    if ((await deps.readers.permission(deps, person, repository, 'refresh')) !== 'admin') return false;
  }
  return true;
}

/** The first two steps, and the page for whatever the others refuse. */
function guarded(given: PageDeps, handle: (sent: Sent) => Promise<Response>): Handler {
  const { origin } = new URL(given.config.publicUrl);
  const ownForms = ownFormsOnly(
    () => origin,
    (context) => {
      const text = 'The form came from another site. Use a page of Holdfast.';
      return nothingChanged(context, undefined, { status: 403, text });
    },
  );
  const handleOwn: Handler = async (context) => {
    const deps = forRequest(given, context);
    const person = await readSession(deps, context);
    if (!person) return signedOutPage(deps, context);
    try {
      await countChange(deps, person);
      const form = await readForm(context);
      const actor: Actor = { type: 'user', id: person.id, name: person.login };
      return await handle({ deps, context, person, actor, form });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return refusedPage(deps, context, person, error);
    }
  };
  return async (context, next) => {
    let answer: Response | undefined;
    const refusal = await ownForms(context, async () => {
      answer = (await handleOwn(context, next)) as Response;
    });
    return refusal ?? answer!;
  };
}

const largest = 1024 * 1024;

/** The fields of a form, which is not a file's. @throws Refusal too-large; invalid for what the database cannot keep. */
async function readForm({ req }: Context): Promise<URLSearchParams> {
  const bytes = await readLimited(req.raw, largest);
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  assertStorable(Object.fromEntries([...form].map(([name, value], at) => [`${name} ${at}`, value])), 'body');
  return form;
}

/** What a change refuses that its form has no place for, with the way back to the form. */
function refusedPage(
  deps: PageDeps,
  context: Context,
  viewer: Person,
  { code, message, retryAfter }: Refusal,
): Promise<Response> {
  if (retryAfter !== undefined) context.header('Retry-After', String(retryAfter));
  const before = pageBefore(context, deps);
  return nothingChanged(context, viewer, {
    status: refusalStatus[code],
    text: message,
    link: before === undefined ? undefined : { href: before, text: 'Back to the form' },
  });
}

/** Who signs in comes back to the page that the form stands on. */
const signedOutPage = (deps: PageDeps, context: Context): Promise<Response> =>
  nothingChanged(context, undefined, {
    status: 403,
    text: 'You are not signed in any more. Sign in, and send the form again.',
    link: { href: signInPath(pageBefore(context, deps) ?? '/'), text: 'Sign in with GitHub' },
  });

const nothingChanged = (
  context: Context,
  viewer: Person | undefined,
  message: Omit<Message, 'title'>,
): Promise<Response> => messagePage(context, { title: 'Nothing was changed', ...message }, viewer);
