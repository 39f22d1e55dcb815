import { html } from 'hono/html';
import { ownerFormPath, planPath } from '../../installations/page-paths.ts';
import { next } from '../../plans/keep-plan.ts';
import type { Occurrence } from '../../plans/occurrences.ts';
import { listPlans, type PlanEnding, pastPlans, type StoredPlan } from '../../plans/plan-store.ts';
import { describeRule } from '../../plans/repetition.ts';
import { type Html, layout } from '../layout.ts';
import { type OwnerVisit, plansShownTo } from '../owner/open-owner.ts';
import { timesOf } from '../reader.ts';
import { instant, type Times } from '../text.ts';

/** How many plans that are over are listed, the newest first. */
const mostPast = 50;

/** `GET /owners/{owner}/plans`: the plans of an owner that the viewer may see, also those that are over. */
export async function showPlans(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer } = visit;
  const times = timesOf(visit);
  const { now } = times;
  const isSeen = await plansShownTo(visit);
  const plans = (await listPlans(deps.db, account.id, now)).filter(isSeen);
  const past = (await pastPlans(deps.db, account.id, now, mostPast)).filter(({ plan }) => isSeen(plan));
  const body = html`<div class="headline">
      <h1>Plans</h1>
      ${visit.mayFreeze === true ? html`<a class="button" href="${ownerFormPath(account.login, 'plans/new')}">New plan</a>` : ''}
    </div>
    ${
      plans.length > 0
        ? planTable(account.login, plans, times)
        : html`<p class="card">
            No plans. A plan freezes many repositories, once or again and again.
            <a href="/help/plans">How plans work</a>
          </p>`
    }
    ${
      past.length === 0
        ? ''
        : html`<h2>Over</h2>
            <table class="stacked">
              <tbody>
                ${past.map((each) => pastRow(account.login, each, times))}
              </tbody>
            </table>`
    }`;
  const title = `Plans of ${account.login}`;
  return context.html(layout({ title, body, viewer, owner: account.login, tab: 'plans', zone: times.zone }));
}

function planTable(login: string, plans: StoredPlan[], times: Times): Html {
  const rows = plans
    .map((plan) => ({ plan, next: next(plan, times.now, 1)[0] }))
    .toSorted((one, other) => (one.next?.startsAt.getTime() ?? 0) - (other.next?.startsAt.getTime() ?? 0));
  return html`<table class="stacked">
    <tbody>
      ${rows.map(({ plan, next }) => planRow(login, plan, next, times))}
    </tbody>
  </table>`;
}

const planRow = (login: string, plan: StoredPlan, next: Occurrence | undefined, times: Times): Html =>
  html`<tr>
    <th scope="row">${link(login, plan)}</th>
    <td>
      ${
        !next
          ? ''
          : next.startsAt <= times.now
            ? html`<span class="badge held">Ongoing</span>
                ${next.endsAt ? html`until ${instant(next.endsAt, times, plan.timezone)}` : 'until removed'}`
            : html`<span class="badge scheduled">Scheduled</span>
                ${instant(next.startsAt, times, plan.timezone)}`
      }
    </td>
    <td>${repeats(plan)}</td>
  </tr>`;

const pastRow = (
  login: string,
  { plan, ending }: { plan: StoredPlan; ending: PlanEnding },
  times: Times,
): Html =>
  html`<tr>
    <th scope="row">${link(login, plan)}</th>
    <td><span class="badge past">Ended</span> ${instant(ending.at, times, plan.timezone)}</td>
    <td>${repeats(plan)}</td>
  </tr>`;

const link = (login: string, plan: StoredPlan): Html =>
  html`<a href="${planPath(login, plan.id)}"><bdi>${plan.name}</bdi></a>`;

/** How a plan repeats: in words, or its rule where words are missing. */
export const repeats = ({
  recurrence,
  start,
  source,
}: Pick<StoredPlan, 'recurrence' | 'start'> & Partial<Pick<StoredPlan, 'source'>>): Html =>
  source
    ? html`Follows a calendar`
    : recurrence
      ? html`${describeRule(recurrence.rule, start) ?? html`<code>${recurrence.rule}</code>`}`
      : html`Once`;
