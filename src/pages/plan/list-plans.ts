import { html } from 'hono/html';
import { nowOf } from '../../clock.ts';
import { ownerFormPath, planPath } from '../../installations/page-paths.ts';
import { next } from '../../plans/keep-plan.ts';
import type { Occurrence } from '../../plans/occurrences.ts';
import { listPlans, type PlanEnding, pastPlans, type StoredPlan } from '../../plans/plan-store.ts';
import { describeRule } from '../../plans/repetition.ts';
import { type Html, layout } from '../layout.ts';
import { type OwnerVisit, plansShownTo } from '../owner/open-owner.ts';
import { instant } from '../text.ts';

/** How many plans that are over are listed, the newest first. */
const mostPast = 50;

/** `GET /owners/{owner}/plans`: the plans of an owner that the viewer may see, also those that are over. */
export async function showPlans(visit: OwnerVisit): Promise<Response> {
  const { deps, context, account, viewer } = visit;
  const now = nowOf(deps.clock);
  const isSeen = await plansShownTo(visit);
  const plans = (await listPlans(deps.db, account.id, now)).filter(isSeen);
  const past = (await pastPlans(deps.db, account.id, now, mostPast)).filter(({ plan }) => isSeen(plan));
  const body = html`<div class="headline">
      <h1>Plans</h1>
      ${visit.mayFreeze === true ? html`<a class="button" href="${ownerFormPath(account.login, 'plans/new')}">New plan</a>` : ''}
    </div>
    ${
      plans.length > 0
        ? planTable(account.login, plans, now)
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
                ${past.map((each) => pastRow(account.login, each))}
              </tbody>
            </table>`
    }`;
  const title = `Plans of ${account.login}`;
  return context.html(layout({ title, body, viewer, owner: account.login, tab: 'plans' }));
}

/** The plans that are not over, for admins of the owner. */
export async function currentPlans({ deps, account, isAdmin }: OwnerVisit): Promise<Html | ''> {
  const now = nowOf(deps.clock);
  const plans = isAdmin ? await listPlans(deps.db, account.id, now) : [];
  return plans.length === 0
    ? ''
    : html`<h2>Plans</h2>
        ${planTable(account.login, plans, now)}`;
}

function planTable(login: string, plans: StoredPlan[], now: Date): Html {
  const rows = plans
    .map((plan) => ({ plan, next: next(plan, now, 1)[0] }))
    .toSorted((one, other) => (one.next?.startsAt.getTime() ?? 0) - (other.next?.startsAt.getTime() ?? 0));
  return html`<table class="stacked">
    <tbody>
      ${rows.map(({ plan, next }) => planRow(login, plan, next, now))}
    </tbody>
  </table>`;
}

const planRow = (login: string, plan: StoredPlan, next: Occurrence | undefined, now: Date): Html =>
  html`<tr>
    <th scope="row">${link(login, plan)}</th>
    <td>
      ${
        !next
          ? ''
          : next.startsAt <= now
            ? html`<span class="badge held">Ongoing</span>
                ${next.endsAt ? html`until ${instant(next.endsAt, plan.timezone)}` : 'until removed'}`
            : html`<span class="badge scheduled">Scheduled</span> ${instant(next.startsAt, plan.timezone)}`
      }
    </td>
    <td>${repeats(plan)}</td>
  </tr>`;

const pastRow = (login: string, { plan, ending }: { plan: StoredPlan; ending: PlanEnding }): Html =>
  html`<tr>
    <th scope="row">${link(login, plan)}</th>
    <td><span class="badge past">Ended</span> ${instant(ending.at, plan.timezone)}</td>
    <td>${repeats(plan)}</td>
  </tr>`;

const link = (login: string, plan: StoredPlan): Html =>
  html`<a href="${planPath(login, plan.id)}"><bdi>${plan.name}</bdi></a>`;

/** How a plan repeats: in words, or its rule where words are missing. */
export const repeats = ({ recurrence, start }: Pick<StoredPlan, 'recurrence' | 'start'>): Html =>
  recurrence
    ? html`${describeRule(recurrence.rule, start) ?? html`<code>${recurrence.rule}</code>`}`
    : html`Once`;
