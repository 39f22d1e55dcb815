import type { Context, Handler } from 'hono';
import { html } from 'hono/html';
import {
  type EnforcementReport,
  recentEnforcement,
} from '../../explanations/enforcement/recent-enforcement.ts';
import { retentionDays, recentEvents } from '../../events/list-events.ts';
import { asPublic, holdsDeployments, holdsMerges } from '../../freezes/freeze.ts';
import { warningsOfDeployments } from '../../freezes/freeze-warnings.ts';
import { readReport } from '../../reports/freeze-report.ts';
import { type FreezeRecord, freezeRecord } from '../../freezes/list-freezes.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { planPath, repositoryLivePath, repositoryPath, freezePath } from '../../page-paths.ts';
import { heldPullRequests } from '../../statuses/held-pull-requests.ts';
import { assertFresh, formProblem } from '../form.ts';
import { nowOf } from '../../time/clock.ts';
import { releasedBy, whatGoesOn } from '../../words/describe-fields.ts';
import { shorten } from '../../words/event-words.ts';
import { instantText, longText, type Times, warningNotices } from '../text.ts';
import { answerForm, repositoryForm } from '../change.ts';
import { toWarned, warningsOfChange } from '../kept-answers.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { isInsider } from '../insiders.ts';
import { absentPage, mayAs, type PageDeps, type RepositoryVisit, readerTimes, uuidOf } from '../reader.ts';
import { eventList, namesInEvents } from '../audit/event-list.ts';
import { asGitHubSees, frozenWord, type ShownHeld, whatItHolds } from '../held.ts';
import {
  deploymentsWord,
  enforcedWord,
  heldByFreeze,
  heldNow,
  isHollow,
  item,
  madeBy,
  type FreezeState,
  freezeStateOf,
  stateWords,
} from '../repository/freeze-list.ts';
import { freezeReport } from './freeze-report.ts';
import {
  changeForms,
  type ChangeOfFreeze,
  changesByForm,
  type RefusedFreezeForm,
  undoEnd,
} from './change-freeze.ts';
import { doneNotice, showPage } from '../message-page.ts';
import { badge, stateLine } from '../states.ts';
import { isFresh } from '../undo.ts';

/** The freeze of the path (`:id`), even if it is over. */
async function freezeOfPath(visit: RepositoryVisit): Promise<FreezeRecord | null> {
  const id = uuidOf(visit, 'id');
  return id === null ? null : freezeRecord(visit.deps.db, visit.repository.id, id);
}

/**
 * `GET /repos/{owner}/{repository}/freezes/{id}`: one freeze with its history and, for admins, the forms to change it.
 * @param refused the form to show again with its errors; the status is 422.
 */
export async function freezePage(
  visit: RepositoryVisit,
  refused: RefusedFreezeForm | null = null,
): Promise<Response> {
  const { deps, context, repository } = visit;
  const record = await freezeOfPath(visit);
  if (!record) return absentPage(visit);
  const isInside = await isInsider(visit);
  const isEnded = isOver(freezeStateOf(record, nowOf(deps.clock)));
  const [report, history, held, mayChange, told] = await Promise.all([
    isInside ? recentEnforcement(deps, repository) : null,
    isInside ? recentEvents(deps, repository, { freezeId: record.id }, { perPage: mostFreezeEvents }) : null,
    heldPullRequests(deps, repository.id),
    mayAs(visit, 'freezer', { releases: true }),
    isEnded ? readReport(deps, record.id) : null,
  ]);
  const times = readerTimes(visit);
  const freeze = isInside ? record : asPublic(record);
  const state = freezeStateOf(freeze, times.now);
  const over = isOver(state);
  const isLoose = state === 'ongoing' && isHollow(freeze, report);
  const title = titleOf(freeze);
  const done = doneText(context, freeze, state);
  const warnings = mayChange && !over ? await warningsOf(visit, freeze) : [];
  const undo = mayChange && isFresh(record.endedEarlyAt, visit) ? undoEnd(repository, record) : '';
  const body = html`<h1 dir="auto">${title}</h1>
    ${done ? doneNotice(done, undo) : ''}
    ${refused ? formProblem(refused.problems, refused.change === 'edit' ? [...refused.form.keys()] : []) : ''}
    ${freezeState(freeze, state, times, isLoose)} ${warningNotices([...warnings])}
    ${mayChange && !over ? changeForms(repository, freeze, state, refused) : ''}
    ${facts(repository, freeze, state, { held: await asGitHubSees(deps, repository, held, isInside), report: over ? null : report, times })}
    ${told ? freezeReport(repository, told, isInside, times) : ''}
    ${
      history
        ? html`<section aria-labelledby="history-heading">
            <h2 id="history-heading">History</h2>
            ${
              history.events.length === 0
                ? html`<p class="muted">No events in the last ${retentionDays} days.</p>`
                : eventList(history.events, times, {
                    ...repository.account,
                    named: await namesInEvents(deps, history.events),
                  })
            }
          </section>`
        : ''
    }`;
  const page = {
    title: `${fullName(repository)}: ${title}`,
    body,
    owner: repository.account.login,
    crumbs: [{ name: repository.name, href: repositoryPath(repository) }, { name: 'Freeze' }],
    frozen: frozenWord(state === 'ongoing' && !isLoose ? [holdsMerges(freeze)] : []),
    ...(!refused && { live: liveAt(visit, repositoryLivePath(repository)) }),
  };
  return showPage(visit, page, refused ? 422 : 200);
}

/** Those of the change that led here, and those that anybody who may change the freeze should see. */
async function warningsOf({ deps, context, repository }: RepositoryVisit, freeze: FreezeRecord) {
  const ofDeployments = warningsOfDeployments(freeze, [freeze], repository.installation.permissions);
  return new Set([
    ...(await warningsOfChange(deps, context)),
    ...ofDeployments.map(({ message }) => message),
  ]);
}

/** Handles a form of a freeze's page, for admins of the repository. Shows the page again, or the form with its errors. */
export const changeByForm = (deps: PageDeps, change: ChangeOfFreeze): Handler =>
  repositoryForm(deps, { role: 'freezer' }, async (sent) => {
    const { form, repository } = sent;
    const freeze = await freezeOfPath(sent);
    if (!freeze) return absentPage(sent);
    return answerForm(
      sent,
      async () => {
        assertFresh(form, String(freeze.version), 'this freeze');
        const warnings = await changesByForm[change](sent, freeze);
        const to = `${freezePath(repository, freeze.id)}?done=${saidAfter[change][0]}`;
        return toWarned(sent.deps, sent.context, warnings, to);
      },
      (problems) => freezePage(sent, { form, change, problems }),
    );
  });

const isOver = (state: FreezeState): boolean => state === 'ended' || state === 'deleted';

/** What the page says after each change, while that is still so, and the word for it in the URL. */
const saidAfter: Record<
  ChangeOfFreeze,
  [word: string, text: string, isSo?: (state: FreezeState) => boolean]
> = {
  edit: ['changed', 'The freeze was changed. GitHub shows the change within seconds.'],
  extend: ['extended', 'The freeze was extended.'],
  end: ['ended', 'The freeze has ended.', isOver],
  delete: ['deleted', 'The freeze was deleted.', isOver],
  restore: [
    'restored',
    'The freeze is as it was, and blocks again within seconds.',
    (state) => !isOver(state),
  ],
};

const saysWhatGoesOn = new Set(['ended', 'deleted']);

/** What the URL says was done. The page updates itself, so somebody may have changed that since. */
function doneText({ req }: Context, freeze: FreezeRecord, state: FreezeState): string | null {
  const found = Object.values(saidAfter).find(([word]) => word === req.query('done'));
  if (!found) return null;
  const [word, text, isSo = () => true] = found;
  if (!isSo(state)) return null;
  return saysWhatGoesOn.has(word) ? `${text} ${whatGoesOn[releasedBy([freeze])]}` : text;
}

/** How many events of a freeze are shown. The audit log has the rest. */
const mostFreezeEvents = 50;

/** Until when it is on, when it begins, or when it was over. @param isLoose whether it is known to hold nothing. */
function freezeState(
  { startsAt, endsAt, timezone, deletion }: FreezeRecord,
  freezeIs: FreezeState,
  times: Times,
  isLoose: boolean,
): Html {
  const on = isLoose ? 'notEnforced' : 'frozen';
  const state = freezeIs === 'ongoing' ? on : freezeIs === 'scheduled' ? 'scheduled' : ('ended' as const);
  const end = endsAt ? instantText(endsAt, times, timezone) : 'until removed';
  const from = freezeIs === 'scheduled' ? html`from ${instantText(startsAt, times, timezone)}` : '';
  const when = deletion
    ? instantText(deletion.at, times)
    : html`${from} ${endsAt && !isOver(freezeIs) ? 'until' : ''} ${end}`;
  return stateLine(
    state,
    html`${badge(state, isLoose ? 'Ongoing, not enforced' : stateWords[freezeIs])} ${when}`,
    { isHeading: false },
  );
}

const titleOf = ({ reason }: FreezeRecord): string => shorten(reason, 120);

/** More links help nobody and slow the browser down. */
const mostHeld = 100;

/** @param report null for a freeze that is over, and for a viewer who may not see it. */
function facts(
  repository: FoundRepository,
  freeze: FreezeRecord,
  state: FreezeState,
  { held: all, report, times }: { held: ShownHeld[]; report: EnforcementReport | null; times: Times },
): Html {
  const { id, reason, publicReason, startsAt, endsAt, timezone, createdAt, createdBy, deletion, planId } =
    freeze;
  const held = state === 'ongoing' ? heldByFreeze(all, freeze) : [];
  const isOn = state === 'ongoing' && holdsMerges(freeze);
  const why = `${repositoryPath(repository)}#enforcement`;
  return html`<dl class="card">
    ${titleOf(freeze) === reason ? '' : item('Reason', longText(reason))}
    ${typeof publicReason === 'string' && publicReason !== reason ? item('Public reason', longText(publicReason)) : ''}
    ${item('Start', instantText(startsAt, times, timezone))}
    ${item('End', endsAt ? instantText(endsAt, times, timezone) : 'None')} ${item('Time zone', timezone)}
    ${item('Blocks', whatItHolds(freeze, 'folded'))}
    ${isOn ? item('Blocked now', heldNow(repository, freeze, held, mostHeld)) : ''}
    ${report && holdsMerges(freeze) ? item('Enforced', enforcedWord(freeze, held, report, why)) : ''}
    ${report && holdsDeployments(freeze) ? item('Deployments', deploymentsWord(freeze, report, why)) : ''}
    ${report && isOn ? instantHold(report, times) : ''}
    ${item('Created by', madeBy(createdBy, instantText(createdAt, times)))}
    ${deletion ? item('Deleted by', madeBy(deletion.by, instantText(deletion.at, times))) : ''}
    ${deletion ? item('Deletion reason', longText(deletion.reason)) : ''}
    ${planId === undefined ? '' : item('Plan', html`<a href="${planPath(repository.account.login, planId)}">Show the plan</a>`)}
    ${item('ID', html`<code class="id">${id}</code>`)}
  </dl>`;
}

/** Whether a ruleset blocks everything at once, and why it does not if it should. */
const instantHold = ({ instant: { since, error } }: EnforcementReport, times: Times): Html | string =>
  error !== null
    ? item('Instant hold', html`<strong class="leaking">${error}</strong>`)
    : since
      ? item('Instant hold', html`Blocked at once by a ruleset since ${instantText(since, times)}`)
      : '';
