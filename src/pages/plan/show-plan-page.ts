import type { Context } from 'hono';
import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { planEnforcement } from '../../enforcement/plan-enforcement.ts';
import { asPublic, phaseOf } from '../../freezes/freeze.ts';
import { ownerPath, planPath, progressPath, repositoryPath } from '../../page-paths.ts';
import { matchedRepositories } from '../../plans/matched-repositories.ts';
import { type ShownPlan, showPlan } from '../../plans/show-plan.ts';
import { confirmation, textArea, textField } from '../form.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { type Html, layout } from '../layout.ts';
import { longText } from '../long-text.ts';
import type { PageDeps } from '../reader.ts';
import { actorName } from '../repository/actor-name.ts';
import { whatItHolds } from '../repository/conditions.ts';
import { occurrenceTable } from './occurrence-table.ts';
import { type OpenedPlan, openPlanPage } from './open-plan.ts';

/** `GET /owners/{owner}/plans/{plan}`: all of a plan, and what can be done with it. */
export async function showPlanPage(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openPlanPage(deps, context);
  if (opened instanceof Response) return opened;
  const { plan, account, viewer } = opened;
  const now = nowOf(deps.clock);
  const [shown, progress] = await Promise.all([
    matchedRepositories(deps.sql, plan).then((matched) => showPlan(deps.db, account, plan, now, matched)),
    planEnforcement(deps, account, plan.id),
  ]);
  const isOngoing = shown.nextOccurrences.some((each) => phaseOf(each, now) === 'ongoing');
  const { held, toHold } = progress;
  const { reason } = opened.isAdmin ? plan : asPublic(plan);
  const body = html`<p class="muted"><a href="${ownerPath(account.login)}">${account.login}</a></p>
    <div class="headline">
      <h1><bdi>${plan.name}</bdi></h1>
      ${viewer ? html`<a class="button quiet" href="${planPath(account.login, plan.id)}/edit">Edit</a>` : ''}
    </div>
    <p>
      <span class="badge ${isOngoing ? 'held' : 'scheduled'}">${isOngoing ? 'Ongoing' : 'Scheduled'}</span>
      ${isOngoing ? html`<a href="${progressPath(account.login, { plan: plan.id })}">${held === toHold ? held : `${held} of ${toHold}`} pull requests held</a>` : ''}
      ${countOf(shown.matched, 'repository', 'repositories')}
      ${progress.notEnforced.length > 0 ? html`<strong class="leaking">${progress.notEnforced.length} not enforced</strong>` : ''}
    </p>
    ${viewer ? actions(opened, isOngoing) : ''} ${details(opened, shown, reason)}`;
  return context.html(layout({ title: plan.name, body, viewer }));
}

function actions({ plan, account }: OpenedPlan, isOngoing: boolean): Html {
  const action = (name: string) => `${planPath(account.login, plan.id)}/${name}`;
  return html`<div class="actions">
    ${
      plan.recurrence === null && plan.end !== null
        ? html`<form method="post" action="${action('extend')}" class="actions">
            <button class="quiet" name="by" value="PT1H">+1 hour</button>
            <button class="quiet" name="by" value="P1D">+1 day</button>
            <details class="confirm">
              <summary class="button quiet">Extend until …</summary>
              <div class="card form">
                ${textField({ name: 'until', label: `Until (${plan.timezone})`, value: plan.end }, 'datetime-local')}
                <button name="by" value="until">Extend</button>
              </div>
            </details>
          </form>`
        : ''
    }
    ${confirmation(
      isOngoing ? 'End now' : 'Delete',
      action('delete'),
      html`<p>
          ${isOngoing ? 'Ends what is frozen now, and' : 'Takes back what is scheduled, and'} deletes the
          plan. That cannot be taken back.
        </p>
        ${textArea({ name: 'delete_reason', label: 'Why', attributes: html`required maxlength="10000"` })}`,
      'Delete this plan',
    )}
  </div>`;
}

function details({ plan, account, isAdmin }: OpenedPlan, shown: ShownPlan, reason: string): Html {
  const { include, exclude } = plan.repositories;
  const { nextOccurrences: next, detached, notEnforced } = shown;
  return html`<dl class="card">
      ${item('Why', longText(reason))}
      ${isAdmin && plan.publicReason !== null ? item('Public reason', longText(plan.publicReason)) : ''}
      ${item('Repositories', html`${names(include)}${exclude.length > 0 ? html`, but not ${names(exclude)}` : ''}`)}
      ${notEnforced.length > 0 ? item('Freezes are off in', links(account.login, notEnforced)) : ''}
      ${plan.recurrence ? item('Repeats by', html`<code>${plan.recurrence.rule}</code>${plan.recurrence.until === null ? '' : html` until ${plan.recurrence.until}`}${plan.recurrence.except.length > 0 ? html`, not on ${plan.recurrence.except.join(', ')}` : ''}`) : ''}
      ${item('Holds', whatItHolds({ ...plan, ...next[0]!, repositoryId: 0n }))}
      ${item('Made by', html`${actorName(plan.createdBy)}`)}
      ${item('Id', html`<code class="id">${plan.id}</code>`)}
    </dl>
    <h2>Next</h2>
    ${occurrenceTable(next, plan.timezone)}
    ${
      detached.length > 0
        ? html`<h2>Changed by themselves</h2>
            <p class="muted">The plan leaves these freezes alone.</p>
            <ul>
              ${detached.map(({ repository, freezeId, start }) => html`<li><a href="/repos/${repository}/freezes/${freezeId}">${repository}</a>, ${start}</li>`)}
            </ul>`
        : ''
    }`;
}

const item = (name: string, value: Html): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

const names = (globs: string[]): Html[] =>
  globs.map((glob, index) => html`${index > 0 ? ', ' : ''}<code>${glob}</code>`);

const links = (login: string, fullNames: string[]): Html =>
  html`${fullNames.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name: name.slice(login.length + 1), account: { login } })}#enforcement">${name}</a>`)}`;
