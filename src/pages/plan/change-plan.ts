import { isDeepStrictEqual } from 'node:util';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { newPlan, planChange, readNewPlan, readPlanChange } from '../../api/v1/plan-schemas.ts';
import { validate } from '../../api/validate.ts';
import { nowOf } from '../../clock.ts';
import { previewPlan } from '../../explanations/preview-plan.ts';
import {
  ownerFormPath,
  ownerPath,
  planPath,
  progressPath,
  signInPath,
} from '../../installations/page-paths.ts';
import { namesToChange, plainNames } from '../../plans/names-of-plan.ts';
import { createPlan } from '../../plans/create-plan.ts';
import type { PlanInput } from '../../plans/plan.ts';
import { findPlan, type StoredPlan } from '../../plans/plan-store.ts';
import { updatePlan } from '../../plans/update-plan.ts';
import { type OwnerChange, sendOnce } from '../change.ts';
import { assertFresh, noProblems, problemsOf } from '../form.ts';
import { changedAfterPreview, doesWhatWasSeen, previewedOf } from '../form-preview.ts';
import { countOf, planPreview } from '../freeze-now/plan-preview.ts';
import { linesOf } from '../condition-fields.ts';
import { layout } from '../layout.ts';
import { messagePage } from '../message-page.ts';
import { openOwnerPage } from '../owner/open-owner.ts';
import type { PageDeps } from '../reader.ts';
import { occurrenceTable } from './show-plan-page.ts';
import { isUuid, mayEdit, openPlanPage } from './open-plan.ts';
import { withPlan } from './plan-actions.ts';
import { fieldsOf, labels, planBody, type PlanFields, readPlanFields, versionOf } from './plan-fields.ts';
import { type PlanForm, planForm } from './plan-form.ts';

/** `GET /owners/{owner}/plans/new`: the form, with the repositories that the URL names. */
export async function showNewPlan(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const { pathname, search, searchParams } = new URL(context.req.url);
  if (!opened.viewer) return context.redirect(signInPath(pathname + search), 302);
  const ticked = searchParams.getAll('repository');
  const all = opened.isAdmin ? '*' : '';
  const fields = readPlanFields(new URLSearchParams(), ticked.length > 0 ? ticked.join('\n') : all);
  return formPage(context, opened.viewer, newForm(opened.account.login, fields));
}

/** `GET /owners/{owner}/plans/{plan}/edit`. */
export async function showPlanEdit(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openPlanPage(deps, context);
  if (opened instanceof Response) return opened;
  const { plan, account, viewer } = opened;
  if (!viewer) return context.redirect(signInPath(new URL(context.req.url).pathname), 302);
  if (!(await mayEdit(deps, opened))) {
    const title = 'You cannot change this plan';
    const text = `Admins of ${account.login} can, and admins of every repository that the plan names.`;
    const link = { href: planPath(account.login, plan.id), text: 'Back to the plan' };
    return messagePage(context, { status: 403, title, text, link }, viewer);
  }
  return formPage(context, viewer, editForm(account.login, plan, fieldsOf(plan)));
}

/** The repositories that a new plan names. */
export const namedByNewPlan = async ({ form }: { form: URLSearchParams }): Promise<string[] | null> =>
  plainNames(linesOf(form.get('include') ?? ''));

type Asked = Pick<OwnerChange, 'deps' | 'account' | 'context' | 'form'>;

/** The repositories that a change to a plan touches. */
export async function namedByPlan({ deps, account, context, form }: Asked): Promise<string[] | null> {
  const where = { id: context.req.param('plan') ?? '', accountId: account.id };
  const now = nowOf(deps.clock);
  const plan = isUuid(where.id) ? await findPlan(deps.db, where, now) : null;
  return plan && namesToChange(deps.db, plan, now, linesOf(form.get('include') ?? ''));
}

/** `POST /owners/{owner}/plans/new`: shows a preview; creates the plan if the same fields were previewed before. */
export async function sendNewPlan(change: OwnerChange): Promise<Response> {
  const { deps, actor, account, form } = change;
  const fields = readPlanFields(form, '');
  const { login } = account;
  return previewOrSave(change, fields, newForm(login, fields), 'Create plan', () => {
    const input = readNewPlan(validate(newPlan, planBody(fields), 'body'));
    const to = (id: string) =>
      fields.start === '' ? progressPath(login, { plan: id }) : planPath(login, id);
    return sendOnce(change, fields, async (remember) => {
      const { plan } = await createPlan(deps, actor, account, input, (tx, shown) =>
        remember(tx, to(shown.plan.id)),
      );
      return to(plan.id);
    });
  });
}

/** `POST /owners/{owner}/plans/{plan}/edit`: the same for a change to a plan. */
export const sendPlanEdit = (change: OwnerChange): Promise<Response> =>
  withPlan(change, async (plan) => {
    const { deps, context, actor, account, administered, form } = change;
    const fields = readPlanFields(form, '');
    return previewOrSave(change, fields, editForm(account.login, plan, fields), 'Save changes', async () => {
      assertFresh(form, versionOf(plan), 'plan');
      const changed = readPlanChange(validate(planChange, changeOf(plan, fields), 'body'));
      await updatePlan(deps, actor, account, administered, plan.id, changed);
      return context.redirect(planPath(account.login, plan.id), 303);
    });
  });

/** The fields that differ from the plan. A value that only looks different is no change. */
function changeOf(plan: StoredPlan, fields: PlanFields) {
  const [before, after] = [planBody(fieldsOf(plan)), planBody(fields)];
  const isSameStart = after.start === before.start || `${after.start}:00` === before.start;
  const conditions = ['matching_conditions', 'exclude_conditions'] as const;
  const same = conditions.filter((name) => isDeepStrictEqual(before[name], after[name]));
  const left = new Set<string>([...same, ...(isSameStart ? ['start'] : [])]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => !left.has(name)));
}

async function previewOrSave(
  { deps, context, person, account, form }: OwnerChange,
  fields: PlanFields,
  shown: Form,
  act: string,
  save: () => Promise<Response>,
): Promise<Response> {
  try {
    if (doesWhatWasSeen(form, 'save', fields)) return await save();
    const input: PlanInput = readNewPlan(validate(newPlan, planBody(fields), 'body'));
    const preview = await previewPlan(deps, account, input);
    const rule = input.recurrence?.rule;
    const seen = html`${planPreview(account.login, preview)}
      ${rule === undefined ? '' : html`<p>Repeats: <code>${rule}</code></p>`}
      <h3>
        ${countOf(preview.nextOccurrences.length, 'time')}${preview.nextOccurrences.length === 10 ? ', and so on' : ''}
      </h3>
      ${occurrenceTable(preview.nextOccurrences, input.timezone)}`;
    const changed = changedAfterPreview(form, 'save', fields, labels);
    const saved = { shown: seen, act, previewed: previewedOf(fields), changed };
    return await formPage(context, person, { ...shown, preview: saved });
  } catch (error) {
    const problems = problemsOf(error, formFields);
    return formPage(context, person, { ...shown, problems }, 422);
  }
}

/** The form field for each API field. */
const formFields = {
  repositories: 'include',
  timezone: 'zone',
  recurrence: 'rule',
  matching_conditions: 'matching',
  exclude_conditions: 'exceptions',
};

type Form = Omit<PlanForm, 'problems' | 'preview'> & Partial<PlanForm>;

const newForm = (login: string, fields: PlanFields): Form => ({
  heading: `New plan for ${login}`,
  action: ownerFormPath(login, 'plans/new'),
  back: ownerPath(login),
  fields,
  isNew: true,
  version: null,
});

const editForm = (login: string, plan: StoredPlan, fields: PlanFields): Form => ({
  heading: `Edit ${plan.name}`,
  action: `${planPath(login, plan.id)}/edit`,
  back: planPath(login, plan.id),
  fields,
  isNew: false,
  version: versionOf(plan),
});

function formPage(
  context: Context,
  viewer: { login: string },
  form: Form,
  status: 200 | 422 = 200,
): Response | Promise<Response> {
  const body = planForm({ problems: noProblems, preview: null, ...form });
  return context.html(layout({ title: form.heading, body, viewer }), status);
}
