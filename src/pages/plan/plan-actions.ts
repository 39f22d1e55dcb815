import { Temporal } from 'temporal-polyfill';
import { invalid } from '../../errors.ts';
import { ownerPath, planPath } from '../../page-paths.ts';
import { deletePlan } from '../../plans/delete-plan.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { requirePlan } from '../../plans/require-plan.ts';
import { updatePlan } from '../../plans/update-plan.ts';
import { toInstant, toLocalTime } from '../../time/local-time.ts';
import type { OwnerChange } from '../change.ts';
import { problemsOf } from '../form.ts';
import { messagePage } from '../message-page.ts';
import { absentPage } from '../reader.ts';
import { isUuid } from './open-plan.ts';

/** `POST /owners/{owner}/plans/{plan}/extend`: another end for a plan that does not repeat. */
export const extendPlan = (change: OwnerChange): Promise<Response> =>
  changed(change, async ({ id, end, timezone }) => {
    const { deps, context, actor, account, administered, form } = change;
    await updatePlan(deps, actor, account, administered, id, { end: extended(form, end, timezone) });
    return context.redirect(planPath(account.login, id), 303);
  });

/** An hour is one of real time; a day later it ends at the same time of the clock. */
function extended(form: URLSearchParams, end: string | null, timezone: string): string {
  const by = form.get('by');
  if (end !== null && by === 'P1D')
    return Temporal.PlainDateTime.from(end).add(by).toString({ smallestUnit: 'second' });
  if (end !== null && by === 'PT1H')
    return toLocalTime(new Date(toInstant(end, timezone, 'end').getTime() + hour), timezone);
  return form.get('until') ?? '';
}

const hour = 3_600_000;

/** `POST /owners/{owner}/plans/{plan}/delete`: ends what it froze, with a reason. */
export const deletePlanByForm = (change: OwnerChange): Promise<Response> =>
  changed(change, async ({ id }) => {
    const { deps, context, actor, account, administered, form } = change;
    const reason = (form.get('delete_reason') ?? '').trim();
    if (reason === '')
      throw invalid([
        { path: ['body', 'delete_reason'], message: 'Say why you delete it.', type: 'missing' },
      ]);
    await deletePlan(deps, actor, account, administered, id, reason);
    return context.redirect(`${ownerPath(account.login)}?said=plan-deleted`, 303);
  });

/** Does something with the plan of the path; what is wrong with the form is said, with the way back. */
async function changed(
  { deps, context, person, account }: OwnerChange,
  act: (plan: StoredPlan) => Promise<Response>,
): Promise<Response> {
  const id = context.req.param('plan') ?? '';
  if (!isUuid(id)) return absentPage(deps, context, person);
  try {
    return await act(await requirePlan(deps.db, deps, account, id));
  } catch (error) {
    const text = [...problemsOf(error).values()].join(' ');
    const link = { href: planPath(account.login, id), text: 'Back to the plan' };
    return messagePage(context, { status: 422, title: 'Nothing was changed', text, link }, person);
  }
}
