import { html } from 'hono/html';
import { conflict } from '../../errors.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { ownerFormPath, planPath, plansPath } from '../../page-paths.ts';
import { deletePlan, updatePlan } from '../../plans/change-plan.ts';
import { plainNames, touchedByChange } from '../../plans/matched-repositories.ts';
import { isOnce } from '../../plans/occurrences.ts';
import { extendFreezes } from '../../plans/ongoing.ts';
import { shownName } from '../../plans/plan-name.ts';
import { listPlans, requirePlan, type StoredPlan } from '../../plans/plan-store.ts';
import { attributesOfPlan } from '../../plans/plan.ts';
import { ongoingFreezes } from '../../plans/show-plan.ts';
import { nowOf } from '../../time/clock.ts';
import { toInstant } from '../../time/local-time.ts';
import { type bulkBar, changeRows, chosenRows } from '../bulk.ts';
import { answerForm, answerOutcome, type OwnerChange, type SentForm } from '../change.ts';
import { extendForms, newEnd } from '../extend.ts';
import {
  assertFresh,
  confirmation,
  digestOf,
  hiddenField,
  requiredText,
  textArea,
  versionField,
} from '../form.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { toWarned } from '../kept-answers.ts';
import type { Html } from '../html.ts';
import { releasedBy } from '../../words/describe-fields.ts';
import { endingName, messagePage } from '../message-page.ts';
import { type PlanVisit, withArchived } from '../owner/open-owner.ts';
import { spanSince } from '../undo.ts';
import { absentPage, actsAs, isOwnerFreezer, uuidOf } from '../reader.ts';
import type { StoredFreeze } from '../../freezes/freeze.ts';

/**
 * Whether the viewer may change a plan, and so read everything that its form has: as an admin of the owner, or as an admin or freezer
 * of every repository that the plan names. Of a plan with patterns, they can read all that it matches.
 * @throws Refusal unavailable or too-many-requests while nobody can say.
 */
export async function mayChangePlan(visit: PlanVisit): Promise<boolean> {
  const { deps, plan, account, repositories, viewer, isAdmin } = withArchived(visit);
  if (isAdmin || !viewer) return isAdmin;
  const names = plainNames(plan.repositories.include)?.map((name) => name.toLowerCase());
  const named = repositories.filter(({ name }) => names?.includes(name.toLowerCase()));
  const recency = { releases: true };
  if (!names) return isOwnerFreezer(deps, viewer, account, recency);
  if (named.length < new Set(names).size) return false;
  const found = await repositoriesOfIds(
    deps.sql,
    named.map(({ id }) => id),
  );
  for (const repository of found)
    if (!(await actsAs({ deps, viewer, repository }, 'freezer', recency))) return false;
  return true;
}

/** Changes whenever the plan changes, so that a form knows whether it is up to date. */
export const versionOf = (plan: StoredPlan): string => digestOf(attributesOfPlan(plan, true));

/** The same for the ongoing freezes of a plan. */
const versionOfOngoing = (freezes: Pick<StoredFreeze, 'id' | 'version'>[]): string =>
  digestOf(freezes.map(({ id, version }) => [id, version]));

/**
 * What one can do about the occurrence that is ongoing, apart from the plan: extend it and end it. A plan that does not
 * repeat is its only occurrence.
 * @param on the ongoing freezes of the plan.
 */
export function occurrenceActions(visit: PlanVisit, on: StoredFreeze[]): Html | '' {
  const { plan } = visit;
  const [first] = on;
  if (!first) return '';
  return group(
    'This occurrence',
    html`${isOnce(plan) ? extendForms(pathTo(visit, 'extend'), versionField(versionOf(plan)), plan) : extendForms(pathTo(visit, 'extend'), versionField(versionOfOngoing(on)), first)}
    ${isOnce(plan) ? deletion(visit, 'End now…', 'End now', 'This ends the ongoing freezes and with them the plan.') : endThisTime(visit, on)}`,
  );
}

/** What one can do about the plan. @param on its ongoing freezes. */
export function planActions(visit: PlanVisit, on: StoredFreeze[]): Html {
  const { plan, account } = visit;
  const isOngoing = on.length > 0;
  const what = isOngoing ? 'ends the ongoing freezes' : 'deletes the scheduled freezes';
  return group(
    'The plan',
    html`<a class="button quiet" href="${planPath(account.login, plan.id)}/edit">Edit</a>
      ${duplicateLink(account.login, plan.id)}
      ${isOnce(plan) && !isOngoing ? extendForms(pathTo(visit, 'extend'), versionField(versionOf(plan)), plan) : ''}
      ${isOnce(plan) && isOngoing ? '' : deletion(visit, 'Delete plan…', 'Delete plan', `This ${what} and the entire plan. You cannot undo this.`)}`,
  );
}

/** Leads to the form of a new plan, filled in as this one. */
export const duplicateLink = (login: string, id: string): Html =>
  html`<a class="button quiet" href="${ownerFormPath(login, 'plans/new')}?copy=${id}">Duplicate</a>`;

const group = (name: string, actions: Html): Html =>
  html`<section aria-label="${name}">
    <h2>${name}</h2>
    <div class="actions">${actions}</div>
  </section>`;

const pathTo = ({ plan, account }: PlanVisit, form: 'extend' | 'delete'): string =>
  `${planPath(account.login, plan.id)}/${form}`;

const deletion = (visit: PlanVisit, name: string, act: string, does: string): Html =>
  confirmation(
    name,
    pathTo(visit, 'delete'),
    html`${versionField(versionOf(visit.plan))}
      <p>${does} The page stays.</p>
      ${whyField('delete')}`,
    act,
  );

/** Ends the ongoing freezes, like the Unfreeze page. The plan continues. */
const endThisTime = ({ plan, account, repositories, isAdmin }: PlanVisit, on: StoredFreeze[]): Html =>
  confirmation(
    'End now…',
    ownerFormPath(account.login, 'unfreeze'),
    html`${hiddenField('ongoing', `freezes ${plan.id}`)} ${hiddenField('plan', plan.id)}
      ${isAdmin ? '' : repositories.filter(({ id }) => on.some(({ repositoryId }) => repositoryId === id)).map(({ name }) => hiddenField('repository', name))}
      <p>
        This ends the ongoing freezes in ${countText(on.length, 'repository', 'repositories')}. The plan
        continues with its next occurrence.
      </p>
      ${whyField('end')}`,
    'End this occurrence',
  );

const whyField = (of: string): Html =>
  textArea({
    name: 'delete_reason',
    id: `why-${of}`,
    label: 'Reason',
    attributes: html`required maxlength="10000"`,
  });

/**
 * `POST /owners/{owner}/plans/{plan}/extend`: changes the end of a plan that does not repeat. For a plan that repeats, it
 * changes the end of the ongoing freezes; the plan no longer changes those.
 */
export const extendPlan = (change: OwnerChange): Promise<Response> =>
  orMessage(change, (plan) => (isOnce(plan) ? extendOnce(change, plan) : extendOngoing(change, plan)));

async function extendOnce(change: OwnerChange, plan: StoredPlan): Promise<string> {
  const { deps, context, account, form } = change;
  assertFresh(form, versionOf(plan), 'this plan');
  const { end, timezone } = plan;
  const endsAt = end === null ? null : toInstant(end, timezone, 'end');
  const changed = { end: newEnd({ end, endsAt, timezone }, form) };
  const { warnings } = await updatePlan(change, plan.id, changed);
  return toWarned(deps, context, warnings, planPath(account.login, plan.id));
}

async function extendOngoing(change: OwnerChange, plan: StoredPlan): Promise<string | Response> {
  const { deps, context, actor, account, form } = change;
  const freezes = await ongoingFreezes(deps.db, plan, nowOf(deps.clock));
  if (freezes.length === 0) throw conflict('No freeze of this plan is ongoing.');
  assertFresh(form, versionOfOngoing(freezes), 'this plan');
  const endOf = (freeze: StoredFreeze) => newEnd(freeze, form);
  const { warnings, ...outcome } = await extendFreezes(deps, actor, plan.id, freezes, endOf);
  const path = planPath(account.login, plan.id);
  const to = await toWarned(deps, context, warnings, path);
  return answerOutcome(change, outcome, to, { href: to, text: 'Back to the plan' });
}

/** `POST /owners/{owner}/plans/{plan}/delete`: deletes the plan and ends its freezes, with a reason. */
export const deletePlanByForm = (change: OwnerChange): Promise<Response> =>
  orMessage(change, async (plan) => {
    const { deps, account, form } = change;
    assertFresh(form, versionOf(plan), 'this plan');
    const reason = requiredText(form, 'delete_reason', 'Enter a reason.');
    const since = nowOf(deps.clock);
    const isEnded = isOnce(plan) && (await ongoingFreezes(deps.db, plan, since)).length > 0;
    await deletePlan(change, plan.id, reason);
    // Ending what is ongoing can be undone; deleting a plan asks before, and cannot.
    const undo = isEnded ? `&undo=${spanSince(deps, since)}` : '';
    return `${planPath(account.login, plan.id)}?said=${endingName('plan-ended', releasedBy([plan]))}${undo}`;
  });

/** The bar of the list of plans. */
export const deletionOfPlans: Parameters<typeof bulkBar>[1] = {
  name: 'Delete the selected plans…',
  acts: [['Delete', 'plan', 'plans']],
  asks: html`<p>
      This deletes the entire plans with their scheduled freezes, and ends their ongoing ones. You cannot undo
      this.
    </p>
    ${whyField('delete')}`,
};

/** The repositories that the deletion of the selected plans touches. */
export async function namedByPlans({ deps, account, form }: SentForm & { account: { id: bigint } }) {
  const now = nowOf(deps.clock);
  const ids = new Set(chosenRows(form).map(({ id }) => id));
  const plans = (await listPlans(deps.db, account.id, now)).filter(({ id }) => ids.has(id));
  const touched = await Promise.all(plans.map((plan) => touchedByChange(deps.db, plan, now)));
  return { include: [...new Set(touched.flatMap(({ include }) => include))], exclude: [] };
}

/** `POST /owners/{owner}/plans`: deletes the selected plans, each by itself, as the form of each does. */
export async function deletePlansByForm(change: OwnerChange): Promise<Response> {
  const { deps, account, form, administered } = change;
  const reason = requiredText(form, 'delete_reason', 'Enter a reason.');
  const isAdmin = administered === null;
  const rows = chosenRows(form);
  // Also those that somebody deleted meanwhile, to name them.
  const plans = await deps.db.freezePlan.findMany({
    where: { accountId: account.id, id: { in: rows.map(({ id }) => id) } },
    select: { id: true, name: true, publicReason: true },
  });
  const names = new Map(plans.map((plan) => [plan.id, shownName(plan, isAdmin)]));
  const acts = rows.map(({ id, assertSame }) => ({
    name: names.get(id) ?? id,
    unseen: (isAdmin && names.get(id)) || id,
    async act() {
      assertSame(versionOf(await requirePlan(deps.db, deps, account, id)), 'this plan');
      await deletePlan(change, id, reason);
    },
  }));
  // As on the page of a plan, its deletion asks before, and cannot be undone.
  return changeRows(change, acts, { list: plansPath(account.login), said: () => '?said=deleted' });
}

/** Calls `act` with the plan of the path. @throws Refusal not-found if it is over or deleted. */
export async function withPlan(
  change: OwnerChange,
  act: (plan: StoredPlan) => Promise<Response>,
): Promise<Response> {
  const id = uuidOf(change, 'plan');
  if (id === null) return absentPage(change);
  return act(await requirePlan(change.deps.db, change.deps, change.account, id));
}

/** The same, but shows the errors of the form with a link back to the plan. */
const orMessage = (
  change: OwnerChange,
  act: (plan: StoredPlan) => Promise<string | Response>,
): Promise<Response> =>
  withPlan(change, (plan) =>
    answerForm(
      change,
      () => act(plan),
      (problems) => {
        const text = [...problems.values()].join(' ');
        const link = { href: planPath(change.account.login, plan.id), text: 'Back to the plan' };
        const message = { status: 422, title: 'Nothing was changed', text, link } as const;
        return messagePage(change.context, message, change.viewer);
      },
    ),
  );
