import type { Context } from 'hono';
import { html } from 'hono/html';
import { Temporal } from 'temporal-polyfill';
import { validate } from '../../api/read-request.ts';
import { occurrenceChange, readOccurrenceChange } from '../../api/v1/occurrence-schemas.ts';
import { calendarPath, occurrencePath, planPath, plansPath } from '../../page-paths.ts';
import { changeOccurrence, type Found, occurrencesAt } from '../../plans/change-occurrence.ts';
import { isOnce, occurrencesFrom } from '../../plans/occurrences.ts';
import type { StoredPlan } from '../../plans/plan-store.ts';
import { localDayAndTime, toLocalTime } from '../../time/local-time.ts';
import { answerForm, type OwnerChange } from '../change.ts';
import {
  badField,
  formProblem,
  type FormProblems,
  hiddenField,
  noProblems,
  textField,
  trimmedField,
} from '../form.ts';
import type { Html } from '../html.ts';
import { saidMessage, showPage } from '../message-page.ts';
import type { OwnerVisit, PlanVisit } from '../owner/open-owner.ts';
import { absentPage, signInFirst, readerTimes } from '../reader.ts';
import { instantText } from '../text.ts';
import { mayChangePlan, withPlan } from './plan-actions.ts';

type Seen = Pick<OwnerVisit, 'deps' | 'context' | 'viewer' | 'account'>;

/**
 * `GET /owners/{owner}/plans/{plan}/occurrences/{start}`: the forms that skip, put back and move one occurrence of a plan. One
 * that has begun has its forms on the page of the plan.
 */
export async function showOccurrence(visit: PlanVisit): Promise<Response> {
  const { context, plan, account, viewer, ending } = visit;
  if (!viewer) return signInFirst(visit);
  const isOpen = !ending && !isOnce(plan) && (await mayChangePlan(visit));
  const found = isOpen ? comingAt(visit, plan) : null;
  return found
    ? page(visit, plan, found, noProblems, movedBy(context, found))
    : context.redirect(planPath(account.login, plan.id), 303);
}

/** `POST` of the same: `do` is `skip`, `back` or `move`. */
export const sendOccurrence = (change: OwnerChange): Promise<Response> =>
  withPlan(change, async (plan) => {
    const { deps, actor, account, administered, form } = change;
    const found = comingAt(change, plan);
    if (!found) return absentPage(change);
    const { start } = found.occurrence;
    const to = (at: string) => `${occurrencePath(account.login, plan.id, at)}?said=saved`;
    return answerForm(
      change,
      async () => {
        const moved = { start: trimmedField(form, 'start'), end: trimmedField(form, 'end') };
        const isMove = form.get('do') === 'move';
        if (isMove && (moved.start === '' || moved.end === ''))
          throw badField(moved.start === '' ? 'start' : 'end', 'Choose a date and a time.');
        const body = isMove ? moved : { skip: form.get('do') === 'skip' };
        const order = readOccurrenceChange(validate(occurrenceChange, body, 'body'));
        await changeOccurrence(deps, actor, account, administered, { id: plan.id, start, order });
        return to(isMove ? `${moved.start}:00`.slice(0, start.length) : start);
      },
      (problems) => page(change, plan, found, problems, form),
    );
  });

/** The form of a move by `days`, as the bar was dropped in the calendar. Empty without them. */
function movedBy({ req }: Context, { occurrence: { start, end } }: Found): URLSearchParams {
  const { days = '' } = req.query();
  if (!/^-?\d{1,3}$/.test(days)) return new URLSearchParams();
  const at = (local: string) =>
    Temporal.PlainDateTime.from(local)
      .add({ days: Number(days) })
      .toString();
  return new URLSearchParams({ start: at(start), end: at(end!) });
}

/** The occurrence of the path, unless it has begun. */
function comingAt({ context, deps }: Seen, plan: StoredPlan): Found | null {
  const { now } = readerTimes({ context, deps });
  const start = context.req.param('start') ?? '';
  return occurrencesAt(plan, start).find(({ occurrence: { startsAt } }) => startsAt > now) ?? null;
}

function page(
  visit: Seen,
  plan: StoredPlan,
  { occurrence, planned, change }: Found,
  problems: FormProblems = noProblems,
  form = new URLSearchParams(),
): Response | Promise<Response> {
  const { account, context } = visit;
  const { login } = account;
  const times = readerTimes(visit);
  const { start, end } = occurrence;
  const today = toLocalTime(times.now, plan.timezone);
  const [from, to] = [localDayAndTime(start, today), localDayAndTime(end!, today)];
  const shown = `${from} to ${start.slice(0, 10) === end!.slice(0, 10) ? to.split(', ')[1]! : to}`;
  const action = occurrencePath(login, plan.id, start);
  const isSkipped = change?.isSkipped === true;
  const month = start.slice(0, 7);
  const after = occurrencesFrom(plan, occurrence.startsAt).find(
    ({ startsAt }) => startsAt > occurrence.startsAt,
  );
  const body = html`${saidMessage(context)}
    <h1>${shown}</h1>
    <p>
      ${isSkipped ? html`<span class="badge past">Skipped</span>` : html`<span class="badge scheduled">Scheduled</span>`}
      One occurrence of <a href="${planPath(login, plan.id)}"><bdi>${plan.name}</bdi></a
      >, in ${plan.timezone}.
      ${change?.window && planned ? html`It was moved. The plan has it at ${instantText(planned.startsAt, times, plan.timezone)}.` : ''}
    </p>
    ${formProblem(problems, ['start', 'end'])}
    ${
      isSkipped
        ? oneButton(action, 'back', 'Put back', html`No freeze starts then. The plan goes on.`)
        : html`${oneButton(
              action,
              'skip',
              'Skip this time',
              html`No freeze starts then, in any
              repository.${after ? html` The next one is at ${instantText(after.startsAt, times, plan.timezone)}.` : ''}
              You can put it back.`,
            )}
            <form class="card form" method="post" action="${action}" id="move">
              ${hiddenField('do', 'move')}
              <div class="side-by-side">
                ${textField({ name: 'start', label: 'Start', value: form.get('start') ?? start, problems, attributes: html`required` }, 'datetime-local')}
                ${textField({ name: 'end', label: 'End', value: form.get('end') ?? end!, problems, attributes: html`required` }, 'datetime-local')}
              </div>
              <p class="muted">Later changes of the plan do not change it any more.</p>
              <div class="actions">
                <button type="submit" class="next" ${form.has('start') ? html`autofocus` : ''}>Move</button>
              </div>
            </form>`
    }
    <p><a href="${calendarPath(login, { month })}">Back to the calendar</a></p>`;
  const crumbs = [
    { name: 'Plans', href: plansPath(login) },
    { name: plan.name, href: planPath(login, plan.id) },
    { name: 'One occurrence' },
  ];
  const title = `${shown}: ${plan.name}`;
  return showPage(visit, { title, body, owner: login, tab: 'plans', crumbs }, problems.size > 0 ? 422 : 200);
}

const oneButton = (action: string, name: 'skip' | 'back', act: string, does: Html): Html =>
  html`<form class="card form" method="post" action="${action}">
    ${hiddenField('do', name)}
    <p>${does}</p>
    <div class="actions">
      <button type="submit" class="${name === 'skip' ? 'danger' : 'next'}">${act}</button>
    </div>
  </form>`;
