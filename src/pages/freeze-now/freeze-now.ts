import type { Context } from 'hono';
import { html } from 'hono/html';
import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import { validate } from '../../api/validate.ts';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { previewPlan } from '../../explanations/preview-plan.ts';
import { createFreeze } from '../../freezes/create-freeze.ts';
import { type FoundRepository, repositoriesOfIds } from '../../installations/repository-rows.ts';
import { progressPath, signInPath } from '../../installations/page-paths.ts';
import { createPlan } from '../../plans/create-plan.ts';
import { type OwnerChange, type Remember, sendOnce } from '../change.ts';
import { type FormProblems, noProblems, problemsOf } from '../form.ts';
import { changedAfterPreview, doesWhatWasSeen, type FormPreview, previewedOf } from '../form-preview.ts';
import { untilText } from '../text.ts';
import { layout } from '../layout.ts';
import { type OpenedOwner, openOwnerPage, seenBy } from '../owner/open-owner.ts';
import { repositoryStates, type RepositoryState } from '../../explanations/repository-states.ts';
import type { PageDeps } from '../reader.ts';
import {
  freezeBody,
  type FreezeFields,
  readFreezeFields,
  freezeForm,
  labels,
  planBody,
} from './freeze-form.ts';
import { countOf, planPreview } from './plan-preview.ts';

/** `GET /owners/{owner}/freeze`: the form, with the repositories of the URL selected. */
export async function showFreezeForm(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const { pathname, search, searchParams } = new URL(context.req.url);
  if (!opened.viewer) return context.redirect(signInPath(pathname + search), 302);
  const fields = readFreezeFields(searchParams, opened.isAdmin ? 'all' : 'ticked');
  return page(context, opened, fields, { problems: noProblems, preview: null });
}

/** The repositories that a form names; null for all repositories of the owner. */
export async function namedByFreezeForm({ form }: { form: URLSearchParams }): Promise<string[] | null> {
  const { which, repositories } = readFreezeFields(form, 'ticked');
  return which === 'all' ? null : repositories;
}

/** `POST /owners/{owner}/freeze`: shows a preview; freezes if the same fields were previewed before. */
export async function sendFreezeForm(change: OwnerChange): Promise<Response> {
  const { deps, context, person, account, form } = change;
  const fields = readFreezeFields(form, 'ticked');
  const all = (await repositoryStates(deps, [account.id])).get(account.id) ?? [];
  const opened = { account, viewer: person, ...(await seenBy(deps, person, account, all)) };
  try {
    const ticked = readTicked(fields, account, all);
    if (doesWhatWasSeen(form, 'freeze', fields)) return await freeze(change, fields, ticked);
    const changed = changedAfterPreview(form, 'freeze', fields, labels);
    const preview = { ...(await previewOf(deps, opened, fields)), changed };
    return page(context, opened, fields, { problems: noProblems, preview });
  } catch (error) {
    const problems = problemsOf(error, { exclude_conditions: 'exceptions', repositories: 'repository' });
    return page(context, opened, fields, { problems, preview: null }, 422);
  }
}

/**
 * The selected repositories. All of them belong to the owner.
 * @throws Refusal invalid, also if the form lacks something that the API does not require.
 */
function readTicked(
  { reason, which, repositories }: FreezeFields,
  { login }: OpenedOwner['account'],
  all: RepositoryState[],
): RepositoryState[] {
  const byName = new Map(all.map((each) => [each.name.toLowerCase(), each]));
  const names = which === 'ticked' ? repositories : [];
  const unknown = names.filter((name) => !byName.has(name.toLowerCase()));
  const problem = (field: string, message: string) => ({ path: ['body', field], message, type: 'missing' });
  const problems = [
    ...(reason === ''
      ? [problem('reason', 'Enter a reason. People whose pull requests are held see it.')]
      : []),
    ...(which === 'ticked' && names.length === 0
      ? [problem('repositories', 'Select at least one repository.')]
      : []),
    ...unknown
      .slice(0, mostUnknown)
      .map((name) =>
        problem('repositories', `${login} has no repository ${name} where Holdfast is installed.`),
      ),
  ];
  if (problems.length > 0) throw invalid(problems);
  return names.map((name) => byName.get(name.toLowerCase())!);
}

const mostUnknown = 5;

async function previewOf(deps: Deps, { account }: OpenedOwner, fields: FreezeFields) {
  const now = nowOf(deps.clock);
  const input = readNewPlan(validate(newPlan, planBody(fields, now), 'body'));
  const preview = await previewPlan(deps, account, input);
  const act = `Freeze ${countOf(preview.matched, 'repository', 'repositories')}`;
  const endsAt = preview.nextOccurrences[0]?.endsAt ?? null;
  const shown = html`<p>Starts now, ${untilText(endsAt, fields.zone, now)}.</p>
    ${planPreview(account.login, preview)}`;
  return { shown, act, previewed: previewedOf(fields) };
}

/** Creates a freeze for one repository, and a plan for several. */
const freeze = (change: OwnerChange, fields: FreezeFields, [only, ...others]: RepositoryState[]) =>
  sendOnce(change, fields, (remember) =>
    only && others.length === 0
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

function page(
  context: Context,
  { account, viewer, repositories, isAdmin }: OpenedOwner,
  fields: FreezeFields,
  shown: { problems: FormProblems; preview: FormPreview },
  status: 200 | 422 = 200,
): Response | Promise<Response> {
  const { login } = account;
  const body = freezeForm({ login, fields, repositories, mayAll: isAdmin, ...shown });
  return context.html(layout({ title: `Freeze ${login}`, body, viewer }), status);
}
