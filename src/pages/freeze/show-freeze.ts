import { html } from 'hono/html';
import {
  type EnforcementReport,
  recentEnforcement,
} from '../../explanations/enforcement/recent-enforcement.ts';
import { type ListedEvent, retentionDays, recentEvents } from '../../events/list-events.ts';
import { asPublic, holdsDeployments, holdsMerges } from '../../freezes/freeze.ts';
import { warningsOfDeployments } from '../../freezes/freeze-warnings.ts';
import { type FreezeRecord, freezeRecord } from '../../freezes/list-freezes.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { planPath, repositoryPath, freezePath } from '../../installations/page-paths.ts';
import { type HeldPullRequest, heldPullRequests } from '../../statuses/held-pull-requests.ts';
import {
  type FormProblems,
  formProblem,
  confirmation,
  type Field,
  noProblems,
  textArea,
  textField,
  versionField,
} from '../form.ts';
import { shorten } from '../../events/event-words.ts';
import { instant, longText, type Times } from '../text.ts';
import { type Html, layout } from '../layout.ts';
import { absentPage, isInsider, mayAs, type RepositoryVisit, timesOf, uuidOf } from '../reader.ts';
import { eventList } from '../audit/event-list.ts';
import { whatItHolds } from '../held.ts';
import {
  deploymentsWord,
  enforcedWord,
  heldByFreeze,
  heldNow,
  item,
  madeBy,
  type FreezeState,
  stateOf,
  stateWords,
} from '../repository/freeze-list.ts';
import { heldFields, heldOf, readHeld, toLines } from '../condition-fields.ts';
import { extendForms, fieldTime } from '../extend.ts';

/** A form that was refused, and why. */
export type RefusedForm = { form: URLSearchParams; change: ChangeOfFreeze; problems: FormProblems };

/** The freeze of the path (`:id`), even if it is over. */
export async function freezeOfPath(visit: RepositoryVisit): Promise<FreezeRecord | null> {
  const id = uuidOf(visit, 'id');
  return id === null ? null : freezeRecord(visit.deps.db, visit.repository.id, id);
}

/**
 * `GET /repos/{owner}/{repository}/freezes/{id}`: one freeze with its history and, for admins, the forms to change it.
 * @param refused the form to show again with its errors; the status is 422.
 */
export async function freezePage(
  visit: RepositoryVisit,
  refused: RefusedForm | null = null,
): Promise<Response> {
  const { deps, context, viewer, repository } = visit;
  const record = await freezeOfPath(visit);
  if (!record) return absentPage(visit);
  const isInside = await isInsider(visit);
  const [report, history, held, mayChange] = await Promise.all([
    isInside ? recentEnforcement(deps, repository) : null,
    isInside ? recentEvents(deps, repository, { freezeId: record.id }, { perPage: mostEvents }) : null,
    heldPullRequests(deps, repository.id),
    mayAs(visit, 'freezer'),
  ]);
  const times = timesOf(visit);
  const freeze = isInside ? record : asPublic(record);
  const state = stateOf(freeze, times.now);
  const isOver = state === 'ended' || state === 'deleted';
  const its = state === 'ongoing' ? heldByFreeze(held, freeze) : [];
  const title = shorten(freeze.reason, 120);
  const done = doneWords[context.req.query('done') ?? ''];
  const body = html`<h1 dir="auto">${title}</h1>
    ${done ? html`<p class="notice done" role="status">${done}</p>` : ''}
    ${refused ? formProblem(refused.problems, refused.change === 'edit' ? [...refused.form.keys()] : []) : ''}
    <p class="verdict">${headline(freeze, state, times)}</p>
    ${mayChange && !isOver ? warningsOfDeployments(freeze, [freeze], repository.installation.permissions).map(({ message }) => html`<p class="notice">${message}</p>`) : ''}
    ${mayChange && !isOver ? changeForms(repository, freeze, state, refused) : ''}
    ${facts(repository, freeze, { state, title, held: its, report, times })}
    ${history ? historyOf(history.events, times, repository) : ''}`;
  const page = layout({
    title: `${fullName(repository)}: ${title}`,
    body,
    viewer,
    owner: repository.account.login,
    crumbs: [{ name: repository.name, href: repositoryPath(repository) }, { name: 'Freeze' }],
    zone: times.zone,
  });
  return context.html(page, refused ? 422 : 200);
}

const doneWords: Record<string, string> = {
  changed: 'The freeze was changed. GitHub shows the change within seconds.',
  extended: 'The freeze was extended.',
  ended: 'The freeze has ended. The pull requests that it blocked can merge within seconds.',
  deleted: 'The freeze was deleted. The pull requests that it blocked can merge within seconds.',
};

/** How many events of a freeze are shown. The audit log has the rest. */
const mostEvents = 50;

const historyOf = (events: ListedEvent[], times: Times, { account }: FoundRepository): Html =>
  html`<section aria-labelledby="history-heading">
    <h2 id="history-heading">History</h2>
    ${
      events.length === 0
        ? html`<p class="muted">No events in the last ${retentionDays} days.</p>`
        : eventList(events, times, account)
    }
  </section>`;

function headline(
  { startsAt, endsAt, timezone, deletion }: FreezeRecord,
  state: FreezeState,
  times: Times,
): Html {
  const badge = html`<span class="badge ${state}">${stateWords[state]}</span>`;
  const end = endsAt
    ? html`until <strong>${instant(endsAt, times, timezone)}</strong>`
    : html`<strong>until it is removed</strong>`;
  switch (state) {
    case 'ongoing':
      return html`${badge} ${end}`;
    case 'scheduled':
      return html`${badge} from <strong>${instant(startsAt, times, timezone)}</strong> ${end}`;
    case 'ended':
      return html`${badge} ${instant(endsAt!, times, timezone)}`;
    case 'deleted':
      return html`${badge} ${instant(deletion!.at, times)}`;
  }
}

/** More links help nobody and slow the browser down. */
const mostHeld = 100;

function facts(
  repository: FoundRepository,
  freeze: FreezeRecord,
  {
    state,
    title,
    held,
    report,
    times,
  }: {
    state: FreezeState;
    title: string;
    held: HeldPullRequest[];
    report: EnforcementReport | null;
    times: Times;
  },
): Html {
  const { id, reason, publicReason, startsAt, endsAt, timezone, createdAt, createdBy, deletion, planId } =
    freeze;
  const isOn = state === 'ongoing' && holdsMerges(freeze);
  return html`<dl class="card">
    ${title === reason ? '' : item('Reason', longText(reason))}
    ${typeof publicReason === 'string' && publicReason !== reason ? item('Public reason', longText(publicReason)) : ''}
    ${item('Start', instant(startsAt, times, timezone))}
    ${item('End', endsAt ? instant(endsAt, times, timezone) : 'None')} ${item('Time zone', timezone)}
    ${item('Blocks', whatItHolds(freeze, 'folded'))}
    ${isOn ? item('Blocked now', heldNow(repository, freeze, held, mostHeld)) : ''}
    ${report && holdsMerges(freeze) && !['ended', 'deleted'].includes(state) ? item('Enforced', enforcedWord(freeze, held, report, `${repositoryPath(repository)}#enforcement`)) : ''}
    ${report && holdsDeployments(freeze) && !['ended', 'deleted'].includes(state) ? item('Deployments', deploymentsWord(freeze, report, `${repositoryPath(repository)}#enforcement`)) : ''}
    ${report && isOn ? instantHold(report, times) : ''}
    ${item('Created by', madeBy(createdBy, instant(createdAt, times)))}
    ${deletion ? item('Deleted by', madeBy(deletion.by, instant(deletion.at, times))) : ''}
    ${deletion ? item('Deletion reason', longText(deletion.reason)) : ''}
    ${planId === undefined ? '' : item('Plan', html`<a href="${planPath(repository.account.login, planId)}">${planId}</a>`)}
    ${item('ID', html`<code class="id">${id}</code>`)}
  </dl>`;
}

/** Whether a ruleset blocks everything at once, and why it does not if it should. */
const instantHold = ({ instant: { since, error } }: EnforcementReport, times: Times): Html | string =>
  error !== null
    ? item('Instant hold', html`<strong class="leaking">${error}</strong>`)
    : since
      ? item('Instant hold', html`Blocked at once by a ruleset since ${instant(since, times)}`)
      : '';

/** What an admin can do with a freeze that is not over. Each has its own form and URL. */
export const changesOfFreeze = ['edit', 'extend', 'end', 'delete'] as const;
export type ChangeOfFreeze = (typeof changesOfFreeze)[number];

/** @param refused the form that was refused: its fields keep what was typed. */
function changeForms(
  repository: FoundRepository,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedForm | null,
): Html {
  const to = (change: ChangeOfFreeze) => `${freezePath(repository, freeze.id)}/${change}`;
  const version = versionField(String(freeze.version));
  return html`<div class="actions">
    ${extendForms(to('extend'), version, freeze)}
    ${
      state === 'ongoing'
        ? confirmation(
            'End now…',
            to('end'),
            html`${version}
              <p>The pull requests that it blocks can merge again.</p>`,
            'End freeze now',
          )
        : ''
    }
    ${confirmation('Delete…', to('delete'), html`${version}${whyDelete}`, 'Delete freeze')}
    <details class="confirm" ${refused?.change === 'edit' ? html`open` : ''}>
      <summary class="button quiet">Edit…</summary>
      ${editForm(to('edit'), freeze, state, refused?.change === 'edit' ? refused : null)}
    </details>
  </div>`;
}

const whyDelete = textField({
  name: 'delete_reason',
  label: 'Reason',
  hint: 'The pull requests that it blocks can merge again. The audit log keeps who deleted the freeze and why.',
  attributes: html`required maxlength="10000"`,
});

/** The fields of a freeze in a form. A freeze that has begun has no start fields. */
export function fieldsOf(freeze: FreezeRecord, state: FreezeState): Record<string, string> {
  const held = heldOf(freeze);
  return {
    reason: freeze.reason,
    public_reason: freeze.publicReason ?? '',
    ...(state === 'scheduled' && { start: fieldTime(freeze.start), timezone: freeze.timezone }),
    end: fieldTime(freeze.end),
    matching_conditions: toLines(freeze.matchingConditions),
    exclude_conditions: toLines(freeze.excludeConditions),
    holds: held.holds,
    environments: held.environments,
    on_deployment: held.onDeployment,
  };
}

function editForm(
  action: string,
  freeze: FreezeRecord,
  state: FreezeState,
  refused: RefusedForm | null,
): Html {
  const given = refused ? Object.fromEntries(refused.form) : fieldsOf(freeze, state);
  const field = (name: string, label: string, more: Partial<Field> = {}): Field => ({
    name,
    label,
    value: given[name] ?? '',
    problems: refused?.problems ?? noProblems,
    ...more,
  });
  const time = { attributes: html`step="any"` };
  const inZone = `Local time in ${freeze.timezone}.`;
  const perLine = 'One condition on each line, such as label=hotfix. All of them must match.';
  return html`<form class="card form" method="post" action="${action}">
    ${versionField(String(freeze.version))}
    ${textArea(field('reason', 'Reason', { attributes: html`required` }))}
    ${textArea(field('public_reason', 'Public reason', { hint: 'Statuses and public pages show this instead of the reason. Leave empty to show the reason.' }))}
    <div class="side-by-side">
      ${
        state === 'scheduled'
          ? html`${textField(field('start', 'Start', { ...time, hint: 'Leave empty to start now.' }), 'datetime-local')}
            ${textField(field('timezone', 'Time zone', { hint: 'For example, Europe/Paris.' }))}`
          : ''
      }
      ${textField(field('end', 'End', { ...time, hint: `${state === 'scheduled' ? '' : `${inZone} `}Leave empty for no end.` }), 'datetime-local')}
    </div>
    ${textArea(field('matching_conditions', 'Block pull requests that match', { hint: `${perLine} Leave empty to block every pull request.` }))}
    ${textArea(field('exclude_conditions', 'Exclude pull requests that match', { hint: perLine }))}
    ${heldFields(readHeld(new URLSearchParams(given)), refused?.problems ?? noProblems)}
    <button type="submit">Save changes</button>
  </form>`;
}
