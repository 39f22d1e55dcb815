import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { newFreeze, readNewFreeze } from '../../api/v1/freeze-schemas.ts';
import { newPlan, readNewPlan } from '../../api/v1/plan-schemas.ts';
import { runOnce } from '../../api/idempotency.ts';
import { validate } from '../../api/validate.ts';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';
import { invalid } from '../../errors.ts';
import { lookAhead } from '../../explanations/look-ahead.ts';
import { previewPlan } from '../../explanations/preview-plan.ts';
import { createFreeze, planFreeze } from '../../freezes/create-freeze.ts';
import { findRepository } from '../../installations/find-repository.ts';
import { ownerFormPath, progressPath, signInPath } from '../../page-paths.ts';
import { createPlan } from '../../plans/create-plan.ts';
import type { OwnerChange } from '../change.ts';
import { type FormProblems, noProblems, problemsOf } from '../form.ts';
import { layout } from '../layout.ts';
import { type OpenedOwner, openOwnerPage, seenBy } from '../owner/open-owner.ts';
import { repositoryStates } from '../owner/repository-states.ts';
import type { PageDeps } from '../reader.ts';
import { digestOf, freezeBody, type FreezeFields, planBody, readFreezeFields } from './freeze-fields.ts';
import { type FreezeForm, freezeForm } from './freeze-form.ts';
import { countOf, planPreview } from './plan-preview.ts';

/** `GET /owners/{owner}/freeze`: the form, with the repositories ticked that the address names. */
export async function showFreezeForm(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openOwnerPage(deps, context);
  if (opened instanceof Response) return opened;
  const { pathname, search, searchParams } = new URL(context.req.url);
  if (!opened.viewer) return context.redirect(signInPath(pathname + search), 302);
  const fields = readFreezeFields(searchParams, opened.isAdmin ? 'all' : 'ticked');
  return page(context, opened, fields, { problems: noProblems, preview: null });
}

/** The repositories that a form names; null where it means all that the owner has. */
export async function namedByFreezeForm({ form }: { form: URLSearchParams }): Promise<string[] | null> {
  const { which, repositories } = readFreezeFields(form, 'ticked');
  return which === 'all' ? null : repositories;
}

/** `POST /owners/{owner}/freeze`: shows what it would do; and does it, once that was seen. */
export async function sendFreezeForm(change: OwnerChange): Promise<Response> {
  const { deps, context, person, account, form } = change;
  const fields = readFreezeFields(form, 'ticked');
  const all = (await repositoryStates(deps, [account.id])).get(account.id) ?? [];
  const opened = { account, viewer: person, ...(await seenBy(deps, person, account, all)) };
  const isSeen = form.get('previewed') === digestOf(fields);
  try {
    assertSaid(fields);
    if (form.get('step') === 'freeze' && isSeen) return await freeze(change, fields);
    const preview = await previewOf(deps, opened, fields, form.get('key') ?? randomUUID());
    return page(context, opened, fields, { problems: noProblems, preview });
  } catch (error) {
    const problems = problemsOf(error, { exclude_conditions: 'exceptions', repositories: 'repository' });
    return page(context, opened, fields, { problems, preview: null }, 422);
  }
}

/** What a form needs that the API can do without. */
function assertSaid({ reason, which, repositories }: FreezeFields): void {
  const problem = (field: string, message: string) => ({ path: ['body', field], message, type: 'missing' });
  const problems = [
    ...(reason === '' ? [problem('reason', 'Say why: people whose pull requests are held read it.')] : []),
    ...(which === 'ticked' && repositories.length === 0
      ? [problem('repositories', 'Tick at least one repository.')]
      : []),
  ];
  if (problems.length > 0) throw invalid(problems);
}

async function previewOf(deps: Deps, { account }: OpenedOwner, fields: FreezeFields, key: string) {
  const input = readNewPlan(validate(newPlan, planBody(fields, nowOf(deps.clock)), 'body'));
  const preview = await previewPlan(deps, account, input);
  const act = `Freeze ${countOf(preview.matched, 'repository', 'repositories')}`;
  return { shown: planPreview(account.login, preview), act, digest: digestOf(fields), key };
}

/** One repository gets a freeze, several get a plan. Tapped twice, it is made once. */
async function freeze(change: OwnerChange, fields: FreezeFields): Promise<Response> {
  const { deps, context, person, account, form } = change;
  const key = form.get('key') ?? randomUUID();
  const where = {
    caller: `user:${person.id}`,
    request: `POST ${ownerFormPath(account.login, 'freeze')}`,
    key,
  };
  const [only, ...others] = fields.repositories;
  const isOne = fields.which === 'ticked' && only !== undefined && others.length === 0;
  const answer = await runOnce(deps, where, fields, async (remember) => {
    const save = isOne ? freezeOne(change, only, fields, remember) : plan(change, fields, remember);
    return { status: 303, body: await save };
  });
  return context.redirect(answer.body as string, 303);
}

type Remember = Parameters<Parameters<typeof runOnce>[3]>[0];

/** @returns where its progress is. */
async function freezeOne(
  { deps, actor, account }: OwnerChange,
  name: string,
  fields: FreezeFields,
  remember: Remember,
): Promise<string> {
  const repository = await findRepository(deps, account.login, name);
  const body = validate(newFreeze, freezeBody(fields, nowOf(deps.clock)), 'body');
  const { freeze, warnings } = planFreeze(deps, repository, readNewFreeze(body));
  const { unenforced, warnings: seen } = await lookAhead(deps, repository, freeze);
  const ahead = { unenforced, warnings: [...warnings, ...seen] };
  const to = progressPath(account.login, { freeze: freeze.id });
  await createFreeze(deps, actor, repository, freeze, ahead, (tx) => remember(tx, { status: 303, body: to }));
  return to;
}

/** @returns where its progress is. */
async function plan(
  { deps, actor, account }: OwnerChange,
  fields: FreezeFields,
  remember: Remember,
): Promise<string> {
  const input = readNewPlan(validate(newPlan, planBody(fields, nowOf(deps.clock)), 'body'));
  const { plan } = await createPlan(deps, actor, account, input, (tx, shown) =>
    remember(tx, { status: 303, body: progressPath(account.login, { plan: shown.plan.id }) }),
  );
  return progressPath(account.login, { plan: plan.id });
}

function page(
  context: Context,
  { account, viewer, repositories, isAdmin }: OpenedOwner,
  fields: FreezeFields,
  shown: { problems: FormProblems; preview: FreezeForm['preview'] },
  status: 200 | 422 = 200,
): Response | Promise<Response> {
  const { login } = account;
  const body = freezeForm({ login, fields, repositories, mayAll: isAdmin, ...shown });
  return context.html(layout({ title: `Freeze ${login}`, body, viewer }), status);
}
