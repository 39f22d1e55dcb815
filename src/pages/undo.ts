import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Selection } from '../auth/authorize-owner-or.ts';
import { conflict, eachByItself } from '../errors.ts';
import type { ExemptionRecord } from '../exemptions/exemption-store.ts';
import { restorableFor, restoreFreeze } from '../freezes/restore-freeze.ts';
import { type FoundRepository, repositoriesOfIds } from '../installations/find-repository.ts';
import { exemptionsPath, ownerFormPath, ownerPath, planPath } from '../page-paths.ts';
import { restorePlan } from '../plans/restore-plan.ts';
import { nowOf } from '../time/clock.ts';
import { answerForm, answerOutcome, type OwnerChange, type SentForm } from './change.ts';
import { hiddenField, idField } from './form.ts';
import type { Html } from './html.ts';
import { messagePage } from './message-page.ts';
import type { PageDeps, Viewer, Visit } from './reader.ts';
import { formsPath } from './status/exemption-forms.ts';

// Undo, on the page that follows a press of a button. It stands there for 10 s (style.css); the service undoes for 60 s.

/** How long pages offer it, in milliseconds. */
const offeredFor = 10_000;

/** Whether something that the reader did can still be offered to be undone. */
export const isFresh = (at: Date | null, { deps }: { deps: Pick<PageDeps, 'clock'> }): boolean =>
  at !== null && nowOf(deps.clock).getTime() - at.getTime() < offeredFor;

/** The form with the button. */
export const undoButton = (action: string, fields: Html): Html =>
  html`<form class="undo" method="post" action="${action}">
    ${fields}<button type="submit" class="quiet">Undo</button>
  </form>`;

/** When one press of a button ended freezes: what the reader ended then is what it ended. */
type Span = { since: Date; until: Date };

/** The span in the URL of the page that follows. @param since when the press began. */
export const spanSince = (deps: Pick<PageDeps, 'clock'>, since: Date): string =>
  `${since.getTime()}-${nowOf(deps.clock).getTime()}`;

function spanIn(text: string | null | undefined): Span | null {
  const [, since, until] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? '') ?? [];
  return since === undefined ? null : { since: new Date(Number(since)), until: new Date(Number(until)) };
}

/** What a person ended in a span, as far as the service may restore it: whole plans, and other freezes. */
async function endedIn(
  { db, clock }: Pick<PageDeps, 'db' | 'clock'>,
  accountId: bigint,
  person: number,
  span: Span,
) {
  const restorable = new Date(nowOf(clock).getTime() - restorableFor);
  const deletedAt = { gte: span.since, lte: span.until, gt: restorable };
  const ended = { deletedAt, deletedBy: { path: ['id'], equals: person } };
  const plans = await db.freezePlan.findMany({
    where: { accountId, ...ended },
    select: { id: true, include: true },
  });
  const freezes = await db.freeze.findMany({
    // The others of a plan come back with it.
    where: {
      repository: { accountId },
      ...ended,
      OR: [{ planId: null }, { detached: true }, { planId: { notIn: plans.map(({ id }) => id) } }],
    },
    select: { id: true, repositoryId: true, repository: { select: { name: true } } },
    orderBy: { repositoryId: 'asc' },
  });
  return { plans, freezes };
}

/**
 * The button that undoes all that the reader's press of a button ended, as the URL says; empty when it is too late.
 * @param plan the plan whose page it is, which then shows the result.
 */
export function undoEnding(
  {
    context,
    deps,
    account: { login },
    viewer,
  }: { context: Context; deps: PageDeps; account: { login: string }; viewer: Viewer },
  plan: { id: string } | null = null,
): Html | '' {
  const text = context.req.query('undo') ?? '';
  const span = spanIn(text);
  if (!viewer || !span || !isFresh(span.until, { deps })) return '';
  const fields = html`${hiddenField('undo', text)}${plan ? hiddenField('plan', plan.id) : ''}`;
  return undoButton(`${ownerFormPath(login, 'unfreeze')}/undo`, fields);
}

/**
 * Whether `unfrozen` is still so: that nobody has restored all that the press ended, as the URL says. A page that updates
 * itself asks for the same URL.
 */
export async function stillSo({
  context: { req },
  deps: { db },
  account,
}: Pick<Visit, 'context' | 'deps'> & { account: { id: bigint } }): Promise<(said: string) => boolean> {
  const span = spanIn(req.query('undo'));
  if (!span || !isUnfrozen(req.query('said') ?? '')) return () => true;
  const ended = { deletedAt: { gte: span.since, lte: span.until } };
  const [plans, freezes] = await Promise.all([
    db.freezePlan.count({ where: { accountId: account.id, ...ended } }),
    db.freeze.count({ where: { repository: { accountId: account.id }, ...ended } }),
  ]);
  return (said) => plans + freezes > 0 || !isUnfrozen(said);
}

const isUnfrozen = (said: string): boolean => said.startsWith('unfrozen');

/** The repositories of what the form would restore. @throws Refusal conflict if there is nothing. */
export async function namedByUndo({
  deps,
  account,
  viewer,
  form,
}: SentForm & { account: { id: bigint } }): Promise<Selection> {
  const span = spanIn(form.get('undo'));
  const { plans, freezes } = span
    ? await endedIn(deps, account.id, viewer.id, span)
    : { plans: [], freezes: [] };
  const include = [
    ...freezes.map(({ repository }) => repository.name),
    ...plans.flatMap((plan) => plan.include),
  ];
  if (include.length > 0) return { include: [...new Set(include)], exclude: [] };
  throw conflict(
    `There is nothing to undo: it was undone already, or more than ${restorableFor / 1000} seconds ago. Create another freeze.`,
  );
}

/** `POST /owners/{owner}/unfreeze/undo`: restores all that one press ended, each by itself. */
export async function sendUndo(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form, viewer, context } = change;
  const plan = form.has('plan') ? idField(form, 'plan') : null;
  const to = plan === null ? ownerPath(account.login) : planPath(account.login, plan);
  const back = { href: to, text: 'Show what is frozen' };
  return answerForm(
    change,
    async () => {
      const { plans, freezes } = await endedIn(deps, account.id, viewer.id, spanIn(form.get('undo'))!);
      const ids = freezes.map(({ repositoryId }) => repositoryId);
      const repositories = new Map((await repositoriesOfIds(deps.sql, ids)).map((each) => [each.id, each]));
      const acts = [
        ...plans.map((each) => () => restorePlan(change, each.id)),
        ...freezes.map(({ id, repositoryId }) => async () => {
          await restoreFreeze(deps, actor, repositories.get(repositoryId)!, id);
        }),
      ];
      return answerOutcome(change, await eachByItself<unknown>(acts), `${to}?said=restored`, back);
    },
    (problems) => {
      const text = [...problems.values()].join(' ');
      return messagePage(context, { status: 409, title: 'Nothing was undone', text, link: back }, viewer);
    },
  );
}

/** The query of the page that follows an approval, which names what was approved. */
export const approvedQuery = (ids: string): string =>
  String(new URLSearchParams({ said: 'approved', approved: ids }));

type ShownExemption = { exemption: ExemptionRecord; repository: FoundRepository };

/** What the reader approved, as the URL says, as far as it is among those that the page shows. */
const approvedAmong = ({ req }: Context, exemptions: ShownExemption[]): ShownExemption[] => {
  const ids = new Set(req.query('approved')?.split(' '));
  return exemptions.filter(({ exemption }) => ids.has(exemption.id));
};

/** Whether `approved` is still so: nobody has revoked it since, and it has not ended. */
export const stillApproved =
  (context: Context, exemptions: ShownExemption[]) =>
  (said: string): boolean => {
    const found = approvedAmong(context, exemptions);
    const isOn = ({ exemption: { state } }: ShownExemption) => ['approved', 'used'].includes(state);
    return said !== 'approved' || found.length === 0 || found.some(isOn);
  };

/**
 * The button that revokes the exemptions that the reader has just approved; empty for any other, and when it is too late.
 * @param exemptions those that the page shows. @param sent hidden fields of the form.
 */
export function undoApproval(
  { context, deps, viewer }: Pick<Visit, 'context' | 'deps' | 'viewer'>,
  exemptions: ShownExemption[],
  sent: Html = html``,
): Html | '' {
  const found = approvedAmong(context, exemptions).filter(
    ({ exemption: { state, decidedAt, decidedBy } }) =>
      state === 'approved' && decidedBy?.id === viewer?.id && isFresh(decidedAt, { deps }),
  );
  const [first, ...others] = found;
  if (!first || !viewer) return '';
  const reason = hiddenField('reason', 'Approved by mistake');
  if (others.length > 0)
    return undoButton(
      exemptionsPath(first.repository.account.login),
      html`${found.map(({ exemption }) => hiddenField('chosen', exemption.id))}${reason}`,
    );
  return undoButton(
    `${formsPath(first.exemption, first.repository)}/${first.exemption.id}/revoke`,
    html`${sent}${reason}`,
  );
}
