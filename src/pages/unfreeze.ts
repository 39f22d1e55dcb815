import { html } from 'hono/html';
import type { Selection } from '../auth/authorize-owner-or.ts';
import { usedAmong } from '../plans/matched-repositories.ts';
import { endOngoing, type Ongoing, ongoingIn } from '../plans/ongoing.ts';
import { repositoriesOfAccount, type RepositoryState } from '../explanations/repository-states.ts';
import { releasedBy } from '../words/describe-fields.ts';
import { ownerFormPath, ownerPath, planPath } from '../page-paths.ts';
import { eachByItself } from '../errors.ts';
import { answerForm, answerOutcome, type OwnerChange } from './change.ts';
import {
  badField,
  formProblem,
  type FormProblems,
  hiddenField,
  idField,
  noProblems,
  requiredText,
  textArea,
} from './form.ts';
import { endingName, showPage } from './message-page.ts';
import { type OwnerVisit, seeOwner } from './owner/open-owner.ts';
import { nowOf } from '../time/clock.ts';
import { readerTimes } from './reader.ts';
import { spanSince } from './undo.ts';
import { assetUrl } from './assets.ts';
import { endWords, unfreezeRows, unfreezeTables } from './unfreeze-table.ts';

/** `GET /owners/{owner}/unfreeze`: the ongoing freezes of all repositories, or of those that the URL names. */
export const showUnfreezeForm = (visit: OwnerVisit): Promise<Response> =>
  show(visit, new URL(visit.context.req.url).searchParams);

/** The repositories that the form names, or all repositories of the owner. */
export async function namedByUnfreezeForm({ form }: { form: URLSearchParams }): Promise<Selection> {
  const names = form.getAll('repository');
  return { include: names.length > 0 ? names : ['*'], exclude: [] };
}

/** `POST /owners/{owner}/unfreeze`: ends the selected freezes one by one, so that one refusal does not stop the others. */
export async function sendUnfreezeForm(change: OwnerChange): Promise<Response> {
  const { deps, account, form } = change;
  const all = await repositoriesOfAccount(deps, account.id);
  const visit = await seeOwner(change, all, { recency: { releases: true } });
  return answerForm(
    change,
    async () => {
      // From the page of a plan, one comes back to it.
      const plan = form.has('plan') ? idField(form, 'plan') : null;
      const ticked = new Set(form.getAll('ongoing'));
      const ongoing = await ongoingIn(deps, account, named(usedAmong(all).used, form), visit.isAdmin);
      const chosen = ongoing.filter(({ value }) => ticked.has(value) || ticked.has(idOf(value)));
      const reason = requiredText(form, 'delete_reason', 'Enter a reason for the audit log.');
      if (chosen.length === 0)
        throw badField('ongoing', 'Select what to end. The freezes that you selected may have ended.');
      const since = nowOf(deps.clock);
      const ends = chosen.flatMap(eachFreeze).map((each) => () => endOngoing(change, each, reason));
      const back = { href: ownerFormPath(account.login, 'unfreeze'), text: 'Show what is still frozen' };
      const outcome = await eachByItself(ends);
      const to = plan === null ? ownerPath(account.login) : planPath(account.login, plan);
      const said = endingName('unfrozen', releasedBy(chosen.flatMap(({ freezes }) => freezes)));
      return answerOutcome(change, outcome, `${to}?said=${said}&undo=${spanSince(deps, since)}`, back);
    },
    (problems) => show(visit, form, problems),
  );
}

/** The overview ticks what goes on by its id: of its plan, if it has one. */
const idOf = (value: string): string => value.split(' ')[1]!;

/** A plan ends as a whole. Of anything else, each freeze ends on its own. */
const eachFreeze = (all: Ongoing): Ongoing[] =>
  all.plan ? [all] : all.freezes.map((freeze) => ({ ...all, freezes: [freeze] }));

/** The repositories that a form names, or all. */
function named(all: RepositoryState[], form: URLSearchParams): RepositoryState[] {
  const names = new Set(form.getAll('repository').map((name) => name.toLowerCase()));
  return names.size === 0 ? all : all.filter(({ name }) => names.has(name.toLowerCase()));
}

async function show(
  visit: OwnerVisit,
  form: URLSearchParams,
  problems: FormProblems = noProblems,
): Promise<Response> {
  const { deps, account, repositories, isAdmin } = visit;
  const times = readerTimes(visit);
  const about = named(repositories, form);
  const ongoing = await ongoingIn(deps, account, about, isAdmin);
  const isNamed = form.has('repository') || !isAdmin;
  const rows = await unfreezeRows(deps, ongoing, about, chosenIn(form, ongoing), isAdmin);
  const fields = html`${isNamed ? about.map(({ name }) => hiddenField('repository', name)) : ''}
    ${unfreezeTables(rows, times)}
    ${textArea({ name: 'delete_reason', label: 'Reason', value: form.get('delete_reason') ?? '', problems, attributes: html`required maxlength="10000" ${rows.some(({ isChosen }) => isChosen) ? html`autofocus` : ''}` })}
    <div class="actions">
      <button type="submit" class="danger" data-ends>${endWords(rows)}</button>
      <a class="button quiet" href="${ownerPath(account.login)}">Cancel</a>
    </div>`;
  const body = html`<h1>Unfreeze ${account.login}</h1>
    ${formProblem(problems, ['delete_reason'])}
    ${
      ongoing.length === 0
        ? html`<p class="card">
            Nothing is frozen. <a href="${ownerPath(account.login)}">All repositories</a>
          </p>`
        : html`<form class="form" method="post" action="${ownerFormPath(account.login, 'unfreeze')}">
            ${fields}
          </form>`
    }`;
  const head = html`<script type="module" src="${assetUrl('unfreeze.js')}"></script>`;
  const page = { title: `Unfreeze ${account.login}`, body, owner: account.login, head };
  return showPage(visit, { ...page, crumbs: [{ name: 'Unfreeze' }] }, problems === noProblems ? 200 : 422);
}

/**
 * The values of what is selected: what the form or the URL says, else the only one there is. With more than one, nothing is, so that
 * nobody ends what they did not mean.
 */
function chosenIn(form: URLSearchParams, ongoing: Ongoing[]): string[] {
  const named = new Set(form.getAll('ongoing'));
  if (form.has('delete_reason') || named.size > 0)
    return ongoing.flatMap(({ value }) => (named.has(value) || named.has(idOf(value)) ? [value] : []));
  return ongoing.length === 1 ? [ongoing[0]!.value] : [];
}
