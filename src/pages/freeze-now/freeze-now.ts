import { html } from 'hono/html';
import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import { validate } from '../../api/read-request.ts';
import { nowOf } from '../../time/clock.ts';
import { invalid } from '../../errors.ts';
import { previewPlanSoon } from '../../explanations/preview-plan.ts';
import { repositoriesOfAccount, type RepositoryState } from '../../explanations/repository-states.ts';
import { createFreeze } from '../../freezes/create-freeze.ts';
import { ownerFormPath, progressPath } from '../../installations/page-paths.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/find-repository.ts';
import { createPlan } from '../../plans/create-plan.ts';
import { plainNames } from '../../plans/matched-repositories.ts';
import { answerForm, once, type OwnerChange, type Remember } from '../change.ts';
import { type FormPreview, previewFirst } from '../form-preview.ts';
import { type FormProblems, noProblems, problemOf, problemsOf, textOf } from '../form.ts';
import { type Html, layout } from '../layout.ts';
import { type OwnerVisit, seeOwner } from '../owner/open-owner.ts';
import { isOwnerFreezer, timesOf } from '../reader.ts';
import type { Selection } from '../../auth/authorize-owner-or.ts';
import { fillIn, saveTemplate, templateLinks, templatePath, templatesOf } from '../templates.ts';
import { readerZone, untilText } from '../text.ts';
import {
  freezeBody,
  type FreezeFields,
  freezeForm,
  labels,
  planBody,
  readFreezeFields,
} from './freeze-form.ts';
import { countOf, planPreview } from './plan-preview.ts';

/** `GET /owners/{owner}/freeze`: the form, with the repositories of the URL selected. */
export async function showFreezeForm(visit: OwnerVisit): Promise<Response> {
  const { searchParams } = new URL(visit.context.req.url);
  const saved = await templatesOf(visit.deps.db, visit.account.id);
  const templates = templateLinks(ownerFormPath(visit.account.login, 'freeze'), searchParams, saved);
  const query = fillIn(searchParams, saved);
  if (!query.has('zone')) query.set('zone', readerZone(visit.context));
  const filter = textOf(query, 'filter');
  const mayAll = await mayFreezeAll(visit);
  return page(visit, readFreezeFields(query, mayAll ? 'all' : 'ticked'), { filter, templates, mayAll });
}

/** Whether the viewer may freeze every repository of the owner: as its admin, or by a role in its settings. */
const mayFreezeAll = async ({ deps, viewer, account, isAdmin }: OwnerVisit): Promise<boolean> =>
  isAdmin || (viewer !== null && (await isOwnerFreezer(deps, viewer, account)));

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
  const filter = textOf(form, 'filter');
  // Filtered below a preview, it shows both again.
  if (form.get('step') === 'show' && !form.has('previewed')) return page(visit, fields, { filter });
  return answerForm(
    change,
    async () => {
      if (form.get('step') === 'template')
        return templatePath(ownerFormPath(account.login, 'freeze'), await saveTemplate(change, fields));
      const ticked = readTicked(fields, account, all);
      return previewFirst(
        form,
        { step: 'freeze', fields, labels },
        () => freeze(change, fields, ticked),
        () => previewOf(visit, fields, textOf(form, 'find')),
        (preview) => page(visit, fields, { preview, filter }),
      );
    },
    (problems) => page(visit, fields, { problems, filter }),
    (error) =>
      problemsOf(error, { exclude_conditions: 'exceptions', repositories: 'repository', end: 'until' }),
  );
}

/**
 * The selected repositories, without patterns. All of them belong to the owner.
 * @throws Refusal invalid, also if the form lacks something that the API does not require.
 */
function readTicked(
  { reason, which, repositories, duration, until }: FreezeFields,
  { login }: OwnerVisit['account'],
  all: RepositoryState[],
): RepositoryState[] {
  const byName = new Map(all.map((each) => [each.name.toLowerCase(), each]));
  const names = which === 'ticked' ? repositories : [];
  const plain = names.filter((name) => plainNames([name]));
  const unknown = plain.filter((name) => !byName.has(name.toLowerCase()));
  const problems = [
    ...(reason === ''
      ? [problemOf('reason', 'Enter a reason. People whose pull requests are blocked see it.')]
      : []),
    ...(duration === 'until' && until === '' ? [problemOf('until', 'Choose a date and a time.')] : []),
    ...(which === 'ticked' && names.length === 0
      ? [problemOf('repositories', 'Select at least one repository.')]
      : []),
    ...unknown
      .slice(0, mostUnknown)
      .map((name) =>
        problemOf('repositories', `${login} has no repository ${name} where Holdfast is installed.`),
      ),
  ];
  if (problems.length > 0) throw invalid(problems);
  return plain.map((name) => byName.get(name.toLowerCase())!);
}

const mostUnknown = 5;

async function previewOf(visit: OwnerVisit, fields: FreezeFields, find: string) {
  const { deps, account } = visit;
  const now = nowOf(deps.clock);
  const input = readNewPlan(validate(newPlan, planBody(fields, now), 'body'));
  const preview = await previewPlanSoon(deps, account, input);
  const act = `Freeze ${countOf(preview.matched, 'repository', 'repositories')}`;
  const endsAt = preview.nextOccurrences[0]?.endsAt ?? null;
  const shown = html`<p>Starts now, ${untilText(endsAt, timesOf(visit), fields.zone)}.</p>
    ${planPreview(account.login, preview, find)}`;
  return { shown, act };
}

/** Creates a freeze for one repository, and a plan for several. */
const freeze = (change: OwnerChange, fields: FreezeFields, [only]: RepositoryState[]) =>
  once(change, fields, (remember) =>
    only && fields.repositories.length === 1
      ? freezeOne(change, only, fields, remember)
      : freezeAll(change, fields, remember),
  );

/** @returns where its progress is. */
async function freezeOne(
  { deps, actor, account }: OwnerChange,
  { id }: RepositoryState,
  fields: FreezeFields,
  remember: Remember,
): Promise<string> {
  const [repository] = (await repositoriesOfIds(deps.sql, [id])) as [FoundRepository];
  const body = validate(newFreeze, freezeBody(fields, nowOf(deps.clock)), 'body');
  const to = (id: string) => progressPath(account.login, { freeze: id });
  const { freeze } = await createFreeze(deps, actor, repository, readNewFreeze(body), (tx, saved) =>
    remember(tx, to(saved.freeze.id)),
  );
  return to(freeze.id);
}

/** @returns where its progress is. */
async function freezeAll(
  { deps, actor, account }: OwnerChange,
  fields: FreezeFields,
  remember: Remember,
): Promise<string> {
  const input = readNewPlan(validate(newPlan, planBody(fields, nowOf(deps.clock)), 'body'));
  const to = (id: string) => progressPath(account.login, { plan: id });
  const { plan } = await createPlan(deps, actor, account, input, (tx, shown) =>
    remember(tx, to(shown.plan.id)),
  );
  return to(plan.id);
}

async function page(
  visit: OwnerVisit,
  fields: FreezeFields,
  {
    filter,
    problems,
    preview = null,
    templates = '',
    mayAll,
  }: {
    filter: string;
    problems?: FormProblems;
    preview?: FormPreview;
    templates?: Html | '';
    /** Whether they may freeze all repositories, if that is known already. */
    mayAll?: boolean;
  },
): Promise<Response> {
  const { context, account, viewer, repositories, isAdmin } = visit;
  const { login } = account;
  const zone = readerZone(context);
  const shown = { filter, problems: problems ?? noProblems, preview, templates, maySaveTemplate: isAdmin };
  const body = freezeForm({
    login,
    fields,
    repositories,
    mayAll: mayAll ?? (await mayFreezeAll(visit)),
    ...shown,
  });
  return context.html(
    layout({ title: `Freeze ${login}`, body, viewer, owner: login, crumbs: [{ name: 'Freeze now' }], zone }),
    problems ? 422 : 200,
  );
}
