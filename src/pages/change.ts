import type { Context, Handler } from 'hono';
import { html } from 'hono/html';
import { randomUUID } from 'node:crypto';
import { type RememberAnswer as RememberAnswer, runOnce } from '../api/idempotency.ts';
import {
  authorizeOwnerOr,
  mostRepositoriesAuthorized,
  refusedAmong,
  type Selection,
} from '../auth/authorize-owner-or.ts';
import { authorizeRepository, type RepositoryAudience } from '../auth/authorize.ts';
import { actorOf, type PersonCaller } from '../auth/caller.ts';
import type { Recency } from '../auth/permissions.ts';
import { forbidden, nullIf, type PartialOutcome, Refusal, refusalStatus, refusedIf } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { repositoriesOfAccount } from '../explanations/repository-states.ts';
import { type InstalledAccount, knownAccount, type Administered } from '../installations/find-account.ts';
import { signInPath } from '../page-paths.ts';
import { plainNames } from '../plans/matched-repositories.ts';
import { listedWords } from '../words/event-words.ts';
import { digestOf, type FormPreview, type FormProblems, previewedOf, formProblemsOf } from './form.ts';
import type { Html } from './html.ts';
import { countText } from './freeze-now/plan-preview.ts';
import { keepForm, keptFormOf } from './kept-answers.ts';
import { seeOwner, seesNothing } from './owner/open-owner.ts';
import { messagePage, ownForms, pageBefore, refusalPage } from './message-page.ts';
import { opensFor } from './opens.ts';
import {
  absentPage,
  openPage,
  type PageDeps,
  rememberReader,
  unlessUnsaid,
  type RepositoryVisit,
  type Visit,
  whoOpens,
} from './reader.ts';
import { repositoryParams } from '../api/fields.ts';
import { assertStorable, readLimited } from '../api/read-request.ts';

// Every form of a page changes data this way. The steps run in this order, and nothing changes until all of them pass:
//  1. The form comes from a Holdfast page. Browsers say so (`Sec-Fetch-Site`, else `Origin`), and other sites cannot
//     forge that. The session cookie is SameSite=Lax too, so forms of other sites arrive without it.
//  2. The person is signed in. A session says who they are and grants nothing.
//  3. GitHub confirms, for this request, that the person may make the change. Earlier answers do not count. While GitHub
//     does not answer, nothing changes.
//  4. The use case of the API makes the change, with the person as the actor, and writes the audit event.

/** A form that a person sent. */
export type SentForm = Visit & {
  viewer: NonNullable<Visit['viewer']>;
  caller: PersonCaller;
  /** The person as the audit log names them. */
  actor: Actor;
  form: URLSearchParams;
  /** Whether it was kept, and this request only shows its preview. It changes nothing. */
  isKept: boolean;
};

/** A change to a repository that GitHub lets the person make. */
export type RepositoryChange = SentForm &
  RepositoryVisit & {
    /** The refusal for a person who may not act as an admin, where writers may make the change too. Null for others. */
    notAdmin: Refusal | null;
  };

/** A change to something that belongs to an owner, which GitHub lets the person make. */
export type OwnerChange = SentForm & { account: InstalledAccount; administered: Administered };

/**
 * Handles a form about the repository of the path (`:owner`, `:repository`).
 * @param allows who may send it beside admins: writers, or who has a role.
 */
export const repositoryForm = (
  deps: PageDeps,
  allows: Pick<RepositoryAudience, 'least' | 'role'>,
  change: (change: RepositoryChange) => Promise<Response>,
): Handler =>
  guarded(deps, async (sent) => {
    const path = repositoryParams.safeParse(sent.context.req.param());
    const audience = { scope: 'admin', isLive: true, releases: true, ...allows } as const;
    const authorized =
      path.success &&
      (await authorizeRepository(sent.deps, sent.caller, audience, path.data).catch(nullIf('not-found')));
    if (!authorized) return absentPage(sent);
    await rememberReader(sent.deps, sent.viewer);
    const changing = { ...sent, ...authorized };
    return change({ ...changing, viewer: whoOpens(changing) });
  });

/**
 * Handles a form that freezes or unfreezes repositories of the owner of the path (`:owner`). Admins of the owner may send
 * it, and so may people who may freeze every repository that it is about.
 * @param named those repositories; null if only the owner's admins may send the form.
 * @param recency `isUrgent` for forms that freeze, `releases` for those that end or change freezes.
 * @param again for forms in which people type: shows them what they typed if they may not send it.
 */
export const ownerForm = (
  deps: PageDeps,
  named: (sent: SentForm & { account: InstalledAccount }) => Promise<Selection | null>,
  change: (change: OwnerChange) => Promise<Response>,
  { isUrgent, releases }: Recency = {},
  again: Again = async () => null,
): Handler =>
  guarded(deps, async (sent) => {
    const owner = sent.context.req.param('owner') ?? '';
    const recency = { isLive: !sent.isKept, isUrgent, releases };
    const account = await knownAccount(sent.deps, owner);
    const selection = account && (await named({ ...sent, account }));
    const names = selection && plainNames(selection.include);
    const ask = async () =>
      authorizeOwnerOr(sent.deps, sent.caller, owner, 'change', recency, async () => ({ all: selection }));
    const authorized = account && (await ask().catch(refusedIf('forbidden', 'not-found')));
    if (!authorized || authorized instanceof Refusal)
      return refuseForm(sent, owner, account, names, authorized, again);
    await rememberReader(sent.deps, sent.viewer);
    const isOwners = authorized.administered === null;
    const opens = opensFor({ ...sent, ...account, account }, isOwners ? 'owner' : null);
    return change({ ...sent, ...authorized, viewer: { ...sent.viewer, opens } });
  });

/** @returns null for the page with the refusal alone. */
type Again = (visit: SeenBySender, why: string) => Promise<Response | null>;

/** What the sender of a form sees of its owner. */
export type SeenBySender = SentForm & { account: InstalledAccount } & Awaited<ReturnType<typeof seeOwner>>;

/** @throws Refusal forbidden, unless the form is shown again. @param refusal the one of the API. */
async function refuseForm(
  sent: SentForm,
  owner: string,
  account: InstalledAccount | null,
  names: string[] | null,
  refusal: Refusal | null,
  again: Again,
): Promise<Response> {
  const seen =
    account && (await seeOwner({ ...sent, account }, await repositoriesOfAccount(sent.deps, account.id)));
  const isSeen = seen && !seesNothing(seen);
  const why = await whyForbidden(isSeen ? seen : null, owner, names, refusal);
  const form = isSeen && seen.mayFreeze !== false ? await again(seen, why) : null;
  if (!form) throw forbidden(why);
  return form;
}

/**
 * What a person lacks who sent a form of an owner. Where they can see nothing of the owner, an unknown one gets the same
 * answer, so that they learn nothing.
 * @param refusal the one of the API.
 */
async function whyForbidden(
  seen: SeenBySender | null,
  owner: string,
  names: string[] | null,
  refusal: Refusal | null,
): Promise<string> {
  const notAdmin = `On GitHub, you aren't an admin of ${owner}`;
  if (!seen) return `${notAdmin}, or Holdfast isn't installed there.`;
  if (names === null)
    return `${notAdmin}. Only its admins, and people to whom its settings give the role freezer, can change all repositories or a pattern of names.`;
  if (names.length === 0) return 'Select at least one repository.';
  if (names.length > mostRepositoriesAuthorized)
    return `${notAdmin}. Select at most ${mostRepositoriesAuthorized} repositories, each of which you are an admin of.`;
  // It names the repository and who has the role, so it is for people who can read that.
  const ofOne = refusal?.code === 'forbidden' ? ` ${refusal.message}` : '';
  const why = `${(await faultsIn(seen, names)) ?? ''}${ofOne}`;
  return `${notAdmin} or of each repository that you selected. Select only repositories that you are an admin or freezer of.${why}`;
}

/** Names the repositories that the sender may not freeze; null if GitHub does not say, or if there are none now. */
async function faultsIn({ deps, caller, account }: SeenBySender, names: string[]): Promise<string | null> {
  const asking = { deps, caller, account, recency: {} };
  const found = await unlessUnsaid(refusedAmong(asking, [...new Set(names)]));
  if (!found) return null;
  const { absent, lacking } = found;
  const said = [
    absent.length > 0
      ? ` You can see no repository of ${account.login} named ${listedWords(absent, mostFaults)}.`
      : '',
    lacking.length > 0 ? ` You aren't an admin or freezer of ${listedWords(lacking, mostFaults)}.` : '',
  ].join('');
  return said || null;
}

const mostFaults = 10;

/** Runs the first two steps, and shows the page for what the other steps refuse. */
export function guarded(given: PageDeps, handle: (sent: SentForm) => Promise<Response>): Handler {
  const text = 'The form came from another site. Send it from a page of Holdfast.';
  const isOurs = ownForms(given, { title, text });
  const handleOwn = openPage(given, async ({ viewer, ...visit }) => {
    const { deps, context } = visit;
    if (!viewer) return signedOutPage(deps, context);
    try {
      const kept = keptFormOf(context);
      // A preview of a plan that follows a calendar reads that: each costs somebody's server a request.
      if (!kept || kept.get('source')) await deps.limits.countChange(deps, viewer);
      const form = kept ?? (await readForm(context));
      const caller = { kind: 'session', person: viewer } as const;
      const actor = actorOf(deps, caller);
      return await handle({ ...visit, viewer, caller, actor, form, isKept: kept !== undefined });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // It belongs to no field of the form, so it has a page of its own.
      const before = pageBefore(context, deps);
      const link = before === undefined ? undefined : { href: before, text: 'Back to the form' };
      return refusalPage(context, error, { title, link }, viewer);
    }
  });
  return async (context, next) =>
    (keptFormOf(context) ? undefined : await isOurs(context, async () => {})) ?? handleOwn(context, next);
}

const title = 'Nothing was changed';

const largestSentForm = 1024 * 1024;

/** The fields of a form without files. @throws Refusal too-large; invalid if the database cannot store a value. */
async function readForm({ req }: Context, most = largestSentForm): Promise<URLSearchParams> {
  const bytes = await readLimited(req.raw, most);
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  assertStorable(Object.fromEntries([...form].map(([name, value], at) => [`${name} ${at}`, value])), 'body');
  return form;
}

/** After signing in, the person returns to the page with the form, where keep-form.js fills in what they typed. */
async function signedOutPage(deps: PageDeps, context: Context): Promise<Response> {
  const form = await readForm(context, largestFromStrangers).catch(nullIf('too-large', 'invalid'));
  const typed = [...(form ?? [])].filter(([name, value]) => texts.has(name) && value.trim() !== '');
  const copies = typed.map(([, value]) => html`<pre class="written" dir="auto">${value}</pre>`);
  return messagePage(
    context,
    {
      status: 403,
      title,
      text: 'You are signed out. Sign in, then send the form again.',
      link: { href: signInPath(pageBefore(context, deps) ?? '/'), text: 'Sign in with GitHub' },
      more: html`<div data-signed-out>
        ${typed.length > 0 ? html`<h2>What you typed</h2>` : ''} ${copies}
      </div>`,
    },
    null,
  );
}

/** The fields whose text somebody thought about. */
const texts: ReadonlySet<string> = new Set(['name', 'reason', 'public_reason', 'delete_reason']);
/** Bytes of a form that are read of somebody who is not signed in. */
const largestFromStrangers = 64 * 1024;

/**
 * Makes the change of a form, and redirects to the page that it names. Shows the form again, with its errors, if the
 * change refuses what the form says.
 * @param act makes the change; or gives the page to show, such as a preview.
 * @param toProblems what of an error the form shows.
 */
export async function answerForm(
  { context }: SentForm,
  act: () => Promise<string | Response>,
  again: (problems: FormProblems) => Response | Promise<Response>,
  toProblems: (error: unknown) => FormProblems = formProblemsOf,
): Promise<Response> {
  try {
    const done = await act();
    return typeof done === 'string' ? context.redirect(done, 303) : done;
  } catch (error) {
    return again(toProblems(error));
  }
}

/**
 * Answers a form that changes nothing: sends the browser to an address where each load shows the page for the form.
 * @param show the page; shown at once if the form is too large to be kept.
 */
export async function showKept(
  { deps, context, form, isKept }: SentForm,
  show: () => Response | Promise<Response>,
): Promise<Response> {
  const to = isKept ? null : await keepForm(deps, context, form);
  return to === null ? show() : context.redirect(to, 303);
}

/**
 * Makes the change of a form if a preview showed the same fields before; else shows a preview.
 * @param step the value of `step` that asks for the change. @param labels the label of each field.
 */
export async function previewFirst<Fields extends object>(
  sent: SentForm,
  { step, fields, labels }: { step: string; fields: Fields; labels: Record<keyof Fields, string> },
  change: () => Promise<string>,
  preview: () => Promise<{ shown: Html; below?: Html; act: string }>,
  show: (preview: FormPreview) => Response | Promise<Response>,
): Promise<string | Response> {
  const { form, isKept } = sent;
  const previewed = previewedOf(fields);
  const isWanted = form.get('step') === step;
  if (isWanted && form.get('previewed') === previewed && !isKept) return change();
  return showKept(sent, async () => {
    const before = new Set(form.get('previewed')?.split(' '));
    const changed = previewed
      .split(' ')
      .filter((field) => isWanted && !before.has(field))
      .map((field) => labels[field.split('=')[0] as keyof Fields]);
    const key = (isKept && form.get('key')) || randomUUID();
    return show({ below: '', ...(await preview()), previewed, key, changed: [...new Set(changed)] });
  });
}

/** Saves the target of the redirect in the transaction of the change, like `runOnce`. */
export type RememberRedirect = (tx: Parameters<RememberAnswer>[0], to: string) => Promise<void>;

/**
 * Makes the change of a form with `onceField` once, even if the form is sent several times: a second tap redirects to
 * the same page as the first one. If a person goes back and changes a field, that counts as a new form.
 * @param fields the content of the form. @param change makes the change.
 * @returns where to redirect, as `change` said the first time.
 */
export async function once(
  { deps, context, viewer, form }: SentForm,
  fields: unknown,
  change: (remember: RememberRedirect) => Promise<string>,
): Promise<string> {
  const key = digestOf([form.get('key') ?? randomUUID(), fields]);
  const where = { caller: `user:${viewer.id}`, request: `POST ${context.req.path}`, key };
  const answer = await runOnce(deps, where, fields, async (remember) => ({
    status: 303,
    body: await change((tx, to) => remember(tx, { status: 303, body: to })),
  }));
  return answer.body as string;
}

/**
 * Redirects if everything changed; else says what did not change.
 * @param to where it redirects. @param back the page to show if some freezes could not be changed.
 * @throws Refusal the first one, if nothing changed.
 */
export function answerOutcome(
  { context, viewer }: SentForm,
  { done, refusals }: PartialOutcome<unknown>,
  to: string,
  back: { href: string; text: string },
): string | Promise<Response> {
  const [first] = refusals;
  if (!first) return to;
  if (done.length === 0) throw first;
  const reasons = [...new Set(refusals.map(({ message }) => message))].slice(0, mostReasons);
  const text = `${countText(done.length, 'freeze was', 'freezes were')} changed, and ${refusals.length} could not be changed. ${reasons.join(' ')}`;
  const status = refusalStatus[first.code];
  return messagePage(context, { status, title: 'Some freezes were not changed', text, link: back }, viewer);
}

const mostReasons = 5;
