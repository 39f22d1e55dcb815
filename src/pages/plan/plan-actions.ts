import { nowOf } from '../../time/clock.ts';
import { conflict } from '../../errors.ts';
import { planChange, saveChange } from '../../freezes/update-freeze.ts';
import { repositoriesOfIds } from '../../installations/find-repository.ts';
import { planPath } from '../../installations/page-paths.ts';
import { deletePlan } from '../../plans/delete-plan.ts';
import { plainNames } from '../../plans/matched-repositories.ts';
import { isOnce } from '../../plans/occurrences.ts';
import { lockPlan, type StoredPlan, requirePlan } from '../../plans/plan-store.ts';
import { ongoingFreezes } from '../../plans/read-freezes.ts';
import { updatePlan } from '../../plans/update-plan.ts';
import { toInstant } from '../../time/local-time.ts';
import { answerForm, answerOutcome, eachByItself, type OwnerChange } from '../change.ts';
import { newEnd } from '../extend.ts';
import { assertFresh, requiredText } from '../form.ts';
import { messagePage } from '../message-page.ts';
import type { PlanVisit } from '../owner/open-owner.ts';
import { absentPage, isOwnerFreezer, mayAs, uuidOf } from '../reader.ts';
import { versionOf, versionOfOngoing } from './plan-fields.ts';

/**
 * Whether the viewer may change a plan, and so read everything that its form has: as an admin of the owner, or as an admin or freezer
 * of every repository that the plan names. Of a plan with patterns, they can read all that it matches.
 */
export async function mayChangePlan({
  deps,
  plan,
  account,
  repositories,
  viewer,
  isAdmin,
}: PlanVisit): Promise<boolean> {
  if (isAdmin || !viewer) return isAdmin;
  const names = plainNames(plan.repositories.include)?.map((name) => name.toLowerCase());
  const named = repositories.filter(({ name }) => names?.includes(name.toLowerCase()));
  if (!names) return isOwnerFreezer(deps, viewer, account);
  if (named.length < new Set(names).size) return false;
  const found = await repositoriesOfIds(
    deps.sql,
    named.map(({ id }) => id),
  );
  for (const repository of found) if (!(await mayAs({ deps, viewer, repository }, 'freezer'))) return false;
  return true;
}

/**
 * `POST /owners/{owner}/plans/{plan}/extend`: changes the end of a plan that does not repeat. For a plan that repeats, it
 * changes the end of the ongoing freezes; the plan no longer changes those.
 */
export const extendPlan = (change: OwnerChange): Promise<Response> =>
  orMessage(change, (plan) => (isOnce(plan) ? extendOnce(change, plan) : extendOngoing(change, plan)));

async function extendOnce(change: OwnerChange, plan: StoredPlan): Promise<string> {
  const { deps, actor, account, administered, form } = change;
  assertFresh(form, versionOf(plan), 'this plan');
  const { end, timezone } = plan;
  const endsAt = end === null ? null : toInstant(end, timezone, 'end');
  const changed = { end: newEnd({ end, endsAt, timezone }, form) };
  await updatePlan(deps, actor, account, administered, plan.id, changed);
  return planPath(account.login, plan.id);
}

async function extendOngoing(change: OwnerChange, plan: StoredPlan): Promise<string | Response> {
  const { deps, actor, account, form } = change;
  const freezes = await ongoingFreezes(deps.db, plan, nowOf(deps.clock));
  if (freezes.length === 0) throw conflict('No freeze of this plan is ongoing.');
  assertFresh(form, versionOfOngoing(freezes), 'this plan');
  const repositories = await repositoriesOfIds(
    deps.sql,
    freezes.map(({ repositoryId }) => repositoryId),
  );
  const path = planPath(account.login, plan.id);
  const outcome = await eachByItself(
    freezes.map((freeze) => async () => {
      const repository = repositories.find(({ id }) => id === freeze.repositoryId)!;
      return {
        repository,
        ...(await planChange(deps, repository, freeze.id, { end: newEnd(freeze, form) })),
      };
    }),
  );
  // In one transaction, so that two people who extend it at the same time do not each extend a part.
  await deps.db.$transaction(async (tx) => {
    await lockPlan(tx, plan.id);
    const now = nowOf(deps.clock);
    // In one order, so that it and the worker do not wait for each other's locks.
    const done = outcome.done.toSorted((one, other) => Number(one.repository.id - other.repository.id));
    for (const planned of done) await saveChange(deps, tx, actor, planned.repository, planned, now);
  });
  return answerOutcome(change, outcome, path, { href: path, text: 'Back to the plan' });
}

/** `POST /owners/{owner}/plans/{plan}/delete`: deletes the plan and ends its freezes, with a reason. */
export const deletePlanByForm = (change: OwnerChange): Promise<Response> =>
  orMessage(change, async (plan) => {
    const { deps, actor, account, administered, form } = change;
    assertFresh(form, versionOf(plan), 'this plan');
    const reason = requiredText(form, 'delete_reason', 'Enter a reason.');
    await deletePlan(deps, actor, account, administered, plan.id, reason);
    return `${planPath(account.login, plan.id)}?said=plan-ended`;
  });

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
