import { html } from 'hono/html';
import { validate } from '../../api/read-request.ts';
import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import type { Selection } from '../../auth/authorize-owner-or.ts';
import { invalid } from '../../errors.ts';
import { previewPlanSoon } from '../../explanations/preview-plan.ts';
import { repositoriesOfAccount, type RepositoryState } from '../../explanations/repository-states.ts';
import { createFreeze } from '../../freezes/save-freeze.ts';
import { templatesOf } from '../../settings/templates.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/find-repository.ts';
import { ownerFormPath, progressPath } from '../../page-paths.ts';
import { createPlan } from '../../plans/change-plan.ts';
import { plainNames } from '../../plans/matched-repositories.ts';
import { nameFromReasons } from '../../plans/plan-name.ts';
import { nowOf } from '../../time/clock.ts';
import { answerForm, once, type OwnerChange, previewFirst, type SeenBySender, showKept } from '../change.ts';
import { conditionsBody, excludeConditions, heldBody, isHeldGiven } from '../condition-fields.ts';
import { problemOf, formProblemsOf, trimmedField } from '../form.ts';
import { type OwnerVisit, seeOwner } from '../owner/open-owner.ts';
import { isOwnerFreezer, readerTimes, unlessUnsaid } from '../reader.ts';
import { fillIn, saveAsNamed, templateLinks, templatePath } from '../templates.ts';
import { readerZone, untilText } from '../text.ts';
import {
  endOfForm,
  type FreezeNowFields,
  type FreezeForm,
  freezeForm,
  freezeLabels,
  readFreezeFields,
} from './freeze-form.ts';
import { countText } from './plan-preview.ts';
import { previewOfForm } from './preview-of-form.ts';
import { assertOneChoice } from './repository-chooser.ts';
import { showPage } from '../message-page.ts';

/** `GET /owners/{owner}/freeze`: the form, with the repositories of the URL selected. */
export async function showFreezeForm(visit: OwnerVisit): Promise<Response> {
  const { searchParams } = new URL(visit.context.req.url);
  const saved = await templatesOf(visit.deps.db, visit.account.id);
  const templates = templateLinks(ownerFormPath(visit.account.login, 'freeze'), searchParams, saved);
  const query = fillIn(searchParams, saved);
  if (!query.has('zone')) query.set('zone', readerZone(visit.context));
  const filter = trimmedField(query, 'filter');
  const mayAll = await mayFreezeAll(visit);
  return freezeNowPage(visit, readFreezeFields(query, mayAll ? 'all' : 'ticked'), {
    filter,
    templates,
    mayAll,
  });
}

/** Whether the viewer may freeze every repository of the owner: as its admin, or by a role in its settings. */
export const mayFreezeAll = async ({ deps, viewer, account, isAdmin }: OwnerVisit): Promise<boolean> =>
  isAdmin || (viewer !== null && (await unlessUnsaid(isOwnerFreezer(deps, viewer, account))) === true);

/** The repositories that a form names. */
export async function namedByFreezeForm({ form }: { form: URLSearchParams }): Promise<Selection> {
  const { which, repositories } = readFreezeFields(form, 'ticked');
  return { include: which === 'all' ? ['*'] : repositories, exclude: [] };
}

/** `POST /owners/{owner}/freeze`: shows a preview; freezes if the same fields were previewed before. */
export async function sendFreezeForm(change: OwnerChange): Promise<Response> {
  const { deps, account, form } = change;
  const fields = readFreezeFields(form, 'ticked');
  const all = await repositoriesOfAccount(deps, account.id);
  const visit = await seeOwner(change, all);
  const filter = trimmedField(form, 'filter');
  // Filtered below a preview, it shows both again.
  if (form.get('step') === 'show' && !form.has('previewed'))
    return showKept(change, () => freezeNowPage(visit, fields, { filter }));
  return answerForm(
    change,
    async () => {
      assertOneChoice(form);
      if (form.get('step') === 'template')
        return templatePath(ownerFormPath(account.login, 'freeze'), await saveAsNamed(change, fields));
      const ticked = readTicked(fields, account, all);
      // The reasons do not change what it does, so they may be written after the preview.
      const { reason: _reason, publicReason: _public, ...previewed } = fields;
      return previewFirst(
        change,
        { step: 'freeze', fields: previewed, labels: freezeLabels },
        () => freezeNow(change, fields, ticked),
        () => previewOf(visit, fields, trimmedField(form, 'find')),
        (preview) => freezeNowPage(visit, fields, { preview, filter }),
      );
    },
    (problems) => freezeNowPage(visit, fields, { problems, filter }),
    (error) =>
      formProblemsOf(error, { exclude_conditions: 'exceptions', repositories: 'repository', end: 'until' }),
  );
}

/** The form as it was sent, for people who may not freeze what it names. */
export const showFreezeFormAgain = (visit: SeenBySender, why: string): Promise<Response> =>
  freezeNowPage(
    visit,
    readFreezeFields(visit.form, 'ticked'),
    { problems: new Map([['repository', why]]), filter: trimmedField(visit.form, 'filter') },
    403,
  );

/**
 * The selected repositories, without patterns. All of them belong to the owner.
 * @throws Refusal invalid, also if the form lacks something that the API does not require.
 */
function readTicked(
  { reason, which, repositories, duration, until }: FreezeNowFields,
  { login }: OwnerVisit['account'],
  all: RepositoryState[],
): RepositoryState[] {
  const byName = new Map(all.map((each) => [each.name.toLowerCase(), each]));
  const names = which === 'ticked' ? repositories : [];
  const plain = names.filter((name) => plainNames([name]));
  const unknown = plain.filter((name) => !byName.has(name.toLowerCase()));
  const problems = unknown
    .slice(0, mostUnknownNamed)
    .map((name) =>
      problemOf('repositories', `${login} has no repository ${name} where Holdfast is installed.`),
    );
  if (which === 'ticked' && names.length === 0)
    problems.unshift(problemOf('repositories', 'Select at least one repository.'));
  if (duration === 'until' && until === '') problems.unshift(problemOf('until', 'Choose a date and a time.'));
  if (reason === '')
    problems.unshift(problemOf('reason', 'Enter a reason. People whose pull requests are blocked see it.'));
  if (problems.length > 0) throw invalid(problems);
  return plain.map((name) => byName.get(name.toLowerCase())!);
}

const mostUnknownNamed = 5;

async function previewOf(visit: OwnerVisit, fields: FreezeNowFields, find: string) {
  const { deps, account } = visit;
  const preview = await previewPlanSoon(deps, account, planInput(fields, nowOf(deps.clock)));
  const act = `Freeze ${countText(preview.matched, 'repository', 'repositories')}`;
  const endsAt = preview.nextOccurrences[0]?.endsAt ?? null;
  const { shown, below } = await previewOfForm(visit, preview, { isNow: true, own: null, find });
  const starts = html`<p class="muted">
    Starts now, ${untilText(endsAt, readerTimes(visit), fields.zone)}.
  </p>`;
  return { shown: html`${shown} ${starts}`, below, act };
}

/** The API body for a new freeze. */
const freezeBody = (fields: FreezeNowFields, now: Date) => ({
  reason: fields.reason,
  public_reason: fields.publicReason || null,
  start: null,
  end: endOfForm(fields, now),
  timezone: fields.zone,
  exclude_conditions: conditionsBody(fields, excludeConditions(fields.exceptions)),
  ...(isHeldGiven(fields) && heldBody(fields)),
});

/** A new plan, as the API takes it. */
function planInput(fields: FreezeNowFields, now: Date) {
  const name = nameFromReasons({ reason: fields.reason, publicReason: fields.publicReason || null });
  const repositories = { include: fields.which === 'all' ? ['*'] : fields.repositories };
  return readNewPlan(validate(newPlan, { ...freezeBody(fields, now), name, repositories }, 'body'));
}

/** Creates a freeze for one repository, and a plan for several. @returns where its progress is. */
const freezeNow = (change: OwnerChange, fields: FreezeNowFields, [only]: RepositoryState[]) =>
  once(change, fields, async (remember) => {
    const { deps, actor, account } = change;
    const now = nowOf(deps.clock);
    const to = (what: { freeze: string } | { plan: string }) => progressPath(account.login, what);
    if (!only || fields.repositories.length > 1) {
      const { plan } = await createPlan(change, planInput(fields, now), (tx, shown) =>
        remember(tx, to({ plan: shown.plan.id })),
      );
      return to({ plan: plan.id });
    }
    const [repository] = (await repositoriesOfIds(deps.sql, [only.id])) as [FoundRepository];
    const input = readNewFreeze(validate(newFreeze, freezeBody(fields, now), 'body'));
    const { freeze } = await createFreeze(deps, actor, repository, input, (tx, saved) =>
      remember(tx, to({ freeze: saved.freeze.id })),
    );
    return to({ freeze: freeze.id });
  });

/** @param more what the form shows beside its fields. */
async function freezeNowPage(
  visit: OwnerVisit,
  fields: FreezeNowFields,
  more: Pick<FreezeForm, 'filter'> & Partial<FreezeForm>,
  status: 200 | 403 | 422 = more.problems ? 422 : 200,
): Promise<Response> {
  const { account, repositories, isAdmin } = visit;
  const { login } = account;
  const mayAll = more.mayAll ?? (await mayFreezeAll(visit));
  const body = freezeForm({ login, fields, repositories, maySaveTemplate: isAdmin, ...more, mayAll });
  const page = { title: `Freeze ${login}`, owner: login, crumbs: [{ name: 'Freeze now' }] };
  return showPage(visit, { ...page, body }, status);
}
