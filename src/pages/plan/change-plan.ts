import { html } from 'hono/html';
import { validate } from '../../api/read-request.ts';
import { newPlan, planChangeSchema, readNewPlan, readPlanChange } from '../../api/v1/plan-schemas.ts';
import type { Selection } from '../../auth/authorize-owner-or.ts';
import { previewPlanSoon } from '../../explanations/preview-plan.ts';
import { repositoriesOfAccount } from '../../explanations/repository-states.ts';
import { ownerFormPath, ownerPath, planPath, plansPath, progressPath } from '../../page-paths.ts';
import { templatesOf } from '../../settings/templates.ts';
import { createPlan, updatePlan } from '../../plans/change-plan.ts';
import { touchedByChange } from '../../plans/matched-repositories.ts';
import { findPlan, type StoredPlan } from '../../plans/plan-store.ts';
import type { PlanInput } from '../../plans/plan.ts';
import { nowOf } from '../../time/clock.ts';
import { answerForm, once, type OwnerChange, previewFirst, type SeenBySender, showKept } from '../change.ts';
import { linesOf } from '../condition-fields.ts';
import { assertFresh, formProblemsOf, trimmedField } from '../form.ts';
import { countText, occurrenceTable, repetition } from '../freeze-now/plan-preview.ts';
import { toWarned } from '../kept-answers.ts';
import { mayFreezeAll } from '../freeze-now/freeze-now.ts';
import { previewOfForm } from '../freeze-now/preview-of-form.ts';
import { assertOneChoice } from '../freeze-now/repository-chooser.ts';
import { messagePage, showPage } from '../message-page.ts';
import { findShownPlan, type OwnerVisit, type PlanVisit, seeOwner } from '../owner/open-owner.ts';
import { signInFirst, readerTimes, uuidOf } from '../reader.ts';
import { fillIn, saveAsNamed, templateLinks, templatePath } from '../templates.ts';
import { readerZone } from '../text.ts';
import { copiedFields } from './copied-fields.ts';
import { mayChangePlan, versionOf, withPlan } from './plan-actions.ts';
import { changeOf, monthsIn, planBody } from './plan-body.ts';
import {
  datesIn,
  fieldsOfPlan,
  planLabels,
  type PlanFields,
  planForm,
  type PlanForm,
  readPlanFields,
} from './plan-form.ts';

/** `GET /owners/{owner}/plans/new`: the form, with the repositories, the start and the zone that the URL names. */
export async function showNewPlan(visit: OwnerVisit): Promise<Response> {
  const { deps, account, isAdmin } = visit;
  const { searchParams } = new URL(visit.context.req.url);
  const saved = await templatesOf(deps.db, account.id);
  const templates = templateLinks(ownerFormPath(account.login, 'plans/new'), searchParams, saved);
  const query = fillIn(searchParams, saved);
  const ticked = query.getAll('repository');
  if (!query.has('zone')) query.set('zone', readerZone(visit.context));
  const copied = await copiedFields(visit, searchParams.get('copy'));
  const fields = copied ?? readPlanFields(query, ticked.length > 0 ? ticked.join('\n') : isAdmin ? '*' : '');
  return formPage(visit, { ...newForm(account.login, fields), templates, maySaveTemplate: isAdmin }, query);
}

/** `GET /owners/{owner}/plans/{plan}/edit`. */
export async function showPlanEdit(visit: PlanVisit): Promise<Response> {
  const { context, plan, account, viewer } = visit;
  if (!viewer) return signInFirst(visit);
  if (visit.ending) return visit.context.redirect(planPath(account.login, plan.id), 303);
  if (!(await mayChangePlan(visit))) {
    const title = 'You cannot change this plan';
    const text = `Admins of ${account.login} can, and admins and freezers of every repository that the plan names.`;
    const link = { href: planPath(account.login, plan.id), text: 'Back to the plan' };
    return messagePage(context, { status: 403, title, text, link }, viewer);
  }
  return formPage(visit, editForm(account.login, plan, fieldsOfPlan(plan)));
}

/** The repositories that a new plan names. */
export async function namedByNewPlan({ form }: { form: URLSearchParams }): Promise<Selection> {
  const { include, exclude } = readPlanFields(form, '');
  return { include: linesOf(include), exclude: linesOf(exclude) };
}

/** The repositories that a change to a plan touches. */
export async function namedByPlan(
  sent: Pick<OwnerChange, 'deps' | 'account' | 'context' | 'form'>,
): Promise<Selection | null> {
  const { deps, account, form } = sent;
  const id = uuidOf(sent, 'plan');
  const now = nowOf(deps.clock);
  const plan = id && (await findPlan(deps.db, { id, accountId: account.id }, now));
  return plan ? touchedByChange(deps.db, plan, now, linesOf(readPlanFields(form, '').include)) : null;
}

/** `POST /owners/{owner}/plans/new`: shows a preview; creates the plan if the same fields were previewed before. */
export async function sendNewPlan(change: OwnerChange): Promise<Response> {
  const { account, form } = change;
  const fields = readPlanFields(form, '');
  const { login } = account;
  const empty = { ...newForm(login, fields), maySaveTemplate: change.administered === null };
  return previewOrSave(change, empty, 'Create plan', null, async () => {
    const input = readNewPlan(validate(newPlan, planBody(fields), 'body'));
    const to = (id: string) =>
      fields.start === '' && fields.repeat !== 'calendar'
        ? progressPath(login, { plan: id })
        : planPath(login, id);
    return once(change, fields, async (remember) => {
      const { plan } = await createPlan(change, input, (tx, shown) => remember(tx, to(shown.plan.id)));
      return to(plan.id);
    });
  });
}

/** `POST /owners/{owner}/plans/{plan}/edit`: the same for a change to a plan. */
export const sendPlanEdit = (change: OwnerChange): Promise<Response> =>
  withPlan(change, async (plan) => {
    const { deps, context, account, form } = change;
    const fields = readPlanFields(form, '');
    // The preview has the version of now, so a change since the form was opened counts before it.
    const check = () => {
      if (form.get('step') === 'save' || form.has('version')) assertFresh(form, versionOf(plan), 'this plan');
    };
    const empty = editForm(account.login, plan, fields);
    return previewOrSave({ ...change, check }, empty, 'Save changes', plan.id, async () => {
      const changed = readPlanChange(validate(planChangeSchema, changeOf(plan, fields), 'body'));
      const { warnings } = await updatePlan(change, plan.id, changed);
      return toWarned(deps, context, warnings, planPath(account.login, plan.id));
    });
  });

/** The form of a new plan as it was sent, for people who may not freeze what it names. */
export const showNewPlanAgain = (visit: SeenBySender, why: string): Promise<Response> =>
  formPage(
    visit,
    {
      ...newForm(visit.account.login, readPlanFields(visit.form, '')),
      problems: new Map([['include', why]]),
    },
    visit.form,
    403,
  );

/** The same for a change to a plan that they may change. */
export async function showPlanEditAgain(visit: SeenBySender, why: string): Promise<Response | null> {
  const id = uuidOf(visit, 'plan');
  const found = id && (await findShownPlan(visit, id));
  if (!found || found.ending || !(await mayChangePlan({ ...visit, ...found }))) return null;
  const { account, form } = visit;
  const empty = editForm(account.login, found.plan, readPlanFields(form, ''));
  // It keeps the version that they opened.
  const version = form.get('version') ?? empty.version;
  return formPage(visit, { ...empty, version, problems: new Map([['include', why]]) }, form, 403);
}

/** What a template keeps of a plan. */
const templateOf = ({ reason, end, exceptions, holds, environments, onDeployment }: PlanFields) => ({
  reason,
  ...{ holds, environments, onDeployment },
  duration: end === '' ? ('open' as const) : ('until' as const),
  exceptions,
});

/** @param own the plan that the form changes; null for a new one. */
async function previewOrSave(
  change: OwnerChange & { check?: () => void },
  empty: EmptyForm,
  act: string,
  own: string | null,
  save: () => Promise<string>,
): Promise<Response> {
  const { deps, account, form } = change;
  const visit = await seeOwner(change, await repositoriesOfAccount(deps, account.id));
  const show = (more: Partial<PlanForm>) => formPage(visit, { ...empty, ...more }, form);
  if (form.get('step') === 'show' && !form.has('previewed')) return showKept(change, () => show({}));
  // What people read does not change what it does, so it may be written after the preview.
  const { name: _name, reason: _reason, publicReason: _public, ...rest } = empty.fields;
  const previewed = { ...rest, except: datesIn(rest.except).toSorted() };
  return answerForm(
    change,
    async () => {
      change.check?.();
      assertOneChoice(form);
      return form.get('step') === 'template'
        ? templatePath(empty.action, await saveAsNamed(change, templateOf(empty.fields)))
        : previewFirst(
            change,
            { step: 'save', fields: previewed, labels: planLabels },
            save,
            async () => ({ act, ...(await previewOf(change, empty.fields, own)) }),
            (preview) => show({ preview }),
          );
    },
    (problems) => show({ problems }),
    (error) => formProblemsOf(error, { ...formFields, recurrence: empty.fields.rule ? 'rule' : 'every' }),
  );
}

async function previewOf(change: OwnerChange, fields: PlanFields, own: string | null) {
  const { deps, account, form } = change;
  const input: PlanInput = readNewPlan(validate(newPlan, planBody(fields), 'body'));
  const preview = await previewPlanSoon(deps, account, input);
  const start = input.start ?? preview.nextOccurrences[0]?.start ?? '';
  const isNow = input.start === null && input.source === null;
  const { shown, below } = await previewOfForm(change, preview, {
    isNow,
    own,
    find: trimmedField(form, 'find'),
  });
  return {
    shown,
    below: html`${input.recurrence ? html`<p>Repeats: ${repetition(input.recurrence, start)}</p>` : ''}
      <h3>Next ${countText(preview.nextOccurrences.length, 'freeze')}</h3>
      ${occurrenceTable(preview.nextOccurrences, input.timezone, readerTimes(change), undefined, preview.eventNames)}
      ${below}`,
  };
}

/** The form field for each API field. */
const formFields = {
  repositories: 'include',
  timezone: 'zone',
  'recurrence.except': 'except',
  'recurrence.until': 'until',
  'source.url': 'source',
  'source.titles': 'titles',
  matching_conditions: 'matching',
  exclude_conditions: 'exceptions',
};

type EmptyForm = Omit<PlanForm, 'choice' | 'months'>;

const newForm = (login: string, fields: PlanFields): EmptyForm => ({
  heading: `New plan for ${login}`,
  crumbs: [{ name: 'New plan' }],
  action: ownerFormPath(login, 'plans/new'),
  back: ownerPath(login),
  fields,
  version: null,
});

const editForm = (login: string, plan: StoredPlan, fields: PlanFields): EmptyForm => ({
  heading: `Edit ${plan.name}`,
  crumbs: [{ name: plan.name, href: planPath(login, plan.id) }, { name: 'Edit' }],
  action: `${planPath(login, plan.id)}/edit`,
  back: planPath(login, plan.id),
  fields,
  version: versionOf(plan),
});

/** @param query what was sent, or the address has: the filter of repositories. */
async function formPage(
  visit: OwnerVisit,
  form: EmptyForm,
  query: URLSearchParams = new URLSearchParams(),
  status: 200 | 403 | 422 = form.problems ? 422 : 200,
): Promise<Response> {
  const { account, repositories } = visit;
  const { login } = account;
  const crumbs = [{ name: 'Plans', href: plansPath(login) }, ...form.crumbs];
  const page = { title: form.heading, owner: login, tab: 'plans', crumbs } as const;
  const months = monthsIn(form.fields, nowOf(visit.deps.clock));
  const choice = { repositories, mayAll: await mayFreezeAll(visit), filter: trimmedField(query, 'filter') };
  const body = planForm({ ...form, months, choice });
  return showPage(visit, { ...page, body }, status);
}
