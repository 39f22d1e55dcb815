import { localDayAndTime, toLocalTime } from '../../time/local-time.ts';
import { asPublic, holdsMerges } from '../../freezes/freeze.ts';
import type { StoredFreeze } from '../../freezes/freeze-columns.ts';
import {
  freezePath,
  ownerFormPath,
  planPath,
  plansPath,
  progressPath,
  repositoryPath,
} from '../../installations/page-paths.ts';
import { matchedBy, matchedRepositories } from '../../plans/matched-repositories.ts';
import { ongoingFreezes } from '../../plans/read-freezes.ts';
import {
  type ShownPlan,
  showPlan,
  warnOfDeployments,
  warnOfExceptions,
  warnOfGivenEnds,
} from '../../plans/show-plan.ts';
import { extendForms } from '../extend.ts';
import { confirmation, hidden, textArea, versionField } from '../form.ts';
import { countOf } from '../freeze-now/plan-preview.ts';
import { type Html, layout } from '../layout.ts';
import { timesOf } from '../reader.ts';
import { longText, instant, quoted, type Times } from '../text.ts';
import { messageOf } from '../message-page.ts';
import { freezeGroupsWithin } from '../../explanations/freeze-groups.ts';
import { repeats } from './list-plans.ts';
import { actorName } from '../../events/actor.ts';
import { planProgress, type Progress } from '../progress.ts';
import { whatItHolds } from '../repository/conditions.ts';
import { item } from '../repository/freeze-list.ts';
import type { PlanVisit } from '../owner/open-owner.ts';
import { occurrenceTable } from './occurrence-table.ts';
import { mayChangePlan } from './plan-actions.ts';
import { versionOf, versionOfOngoing } from './plan-fields.ts';
import { isOnce, type Recurrence } from '../../plans/occurrences.ts';
import { hostOf, type Source } from '../../plans/plan.ts';
import { html } from 'hono/html';

/** `GET /owners/{owner}/plans/{plan}`: a plan and its forms. */
export async function showPlanPage(visit: PlanVisit): Promise<Response> {
  const { deps, context, plan, account, viewer } = visit;
  const times = timesOf(visit);
  const { now } = times;
  const { login } = account;
  const crumbs = [{ name: 'Plans', href: plansPath(login) }, { name: plan.name }];
  const page = { title: plan.name, viewer, owner: login, tab: 'plans', crumbs, zone: times.zone } as const;
  if (visit.ending)
    return context.html(layout({ ...page, body: endedPlan(visit, await pastOf(visit, times), times) }));
  const [past, shown, progress, on, warnings, mayChange] = await Promise.all([
    pastOf(visit, times),
    matchedRepositories(deps.sql, plan).then((matched) => showPlan(deps.db, account, plan, now, matched)),
    planProgress(visit),
    ongoingFreezes(deps.db, plan, now),
    warnOfGivenEnds(deps.db, plan, [], now),
    mayChangePlan(visit),
  ]);
  const body = html`<div class="headline">
      <h1><bdi>${plan.name}</bdi></h1>
      ${mayChange ? html`<a class="button quiet" href="${planPath(account.login, plan.id)}/edit">Edit</a>` : ''}
    </div>
    <p>${stateOf(visit, shown, progress, now)}</p>
    ${[...warnings, ...warnOfExceptions(plan), ...(await warnOfDeployments(deps.db, plan, shown.nextOccurrences))].map((warning) => html`<p class="notice">${warning}</p>`)}
    ${plan.source?.error ? html`<p class="notice" role="status">${plan.source.error} The events that it had before still freeze.</p>` : ''}
    ${mayChange ? actions(visit, on) : ''} ${ongoingIn(visit, on)} ${details(visit, shown, times, mayChange)}
    ${past}`;
  return context.html(layout({ ...page, body }));
}

/** A plan that is over or deleted: what it was, how it ended, and what it froze. */
function endedPlan(visit: PlanVisit, past: Html, times: Times): Html {
  const { context, plan, ending } = visit;
  const { at, by, reason } = ending!;
  // Somebody who ends what was ongoing deletes the plan, too: to people it ended.
  const word = by && !isOnce(plan) ? 'Deleted' : 'Ended';
  return html`${messageOf(context)}
    <h1><bdi>${plan.name}</bdi></h1>
    <p>
      <span class="badge past">${word}</span> ${instant(at, times, plan.timezone)}
      ${by ? html`by <bdi>${actorName(by)}</bdi>: ${quoted(reason ?? '')}` : ''}
    </p>
    ${facts(visit, null, times, false)} ${past}`;
}

/** How long the past is shown, in milliseconds, and how many rows of it at most. */
const pastShown = 366 * 86_400_000;
const mostPast = 400;

/** What the plan froze in the last year, in the repositories that the viewer can read, the newest first. */
async function pastOf({ deps, plan, repositories, isAdmin }: PlanVisit, times: Times): Promise<Html> {
  const ids = repositories.map(({ id }) => id);
  const inside = repositories.filter((each) => isAdmin || each.private).map(({ id }) => id);
  const groups = await freezeGroupsWithin(
    deps.db,
    ids,
    inside,
    { from: new Date(times.now.getTime() - pastShown), to: times.now },
    mostPast,
    plan.id,
  );
  if (groups.length === 0) return html``;
  return html`<h2>Freezes of the last year</h2>
    <table>
      <thead>
        <tr>
          <th>Start</th>
          <th>End</th>
          <th class="number">Repositories</th>
        </tr>
      </thead>
      <tbody>
        ${groups.toReversed().map(
          ({ startsAt, endsAt, repositories: count }) =>
            html`<tr>
              <td>${instant(startsAt, times, plan.timezone)}</td>
              <td>${endsAt ? instant(endsAt, times, plan.timezone) : 'None'}</td>
              <td class="number">${count}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}

/** What a plan says. @param switchedOff where freezes are switched off. @param mayChange whether the viewer may. */
function facts(visit: PlanVisit, switchedOff: Html | null, times: Times, mayChange: boolean): Html {
  const { plan, isAdmin } = visit;
  return html`<dl class="card">
    ${item('Reason', longText((isAdmin ? plan : asPublic(plan)).reason))}
    ${isAdmin && plan.publicReason !== null ? item('Public reason', longText(plan.publicReason)) : ''}
    ${item('Repositories', repositoriesOf(visit))}
    ${switchedOff ? item('Freezes are switched off in', switchedOff) : ''}
    ${plan.recurrence ? item('Repeats', repetition({ ...plan, recurrence: plan.recurrence })) : ''}
    ${plan.source ? item('Calendar', followed(plan.source, mayChange)) : ''}
    ${plan.source ? item('Last read', instant(new Date(plan.source.readAt), times)) : ''}
    ${item('Blocks', whatItHolds({ ...plan, startsAt: new Date(0), endsAt: null, repositoryId: 0n }))}
    ${item('Created by', html`${actorName(plan.createdBy)}`)}
    ${item('ID', html`<code class="id">${plan.id}</code>`)}
  </dl>`;
}

/** The calendar that a plan follows. Its address may be a secret. */
const followed = ({ url, titles }: Source, mayChange: boolean): Html =>
  html`<bdi>${mayChange ? url : hostOf(url)}</bdi
    >${titles ? html`, events named ${names(titles)}` : ', all events'}`;

/** How a plan repeats, until when, and the dates that it skips. */
export const repetition = (plan: { start: string; recurrence: Recurrence }): Html =>
  html`${repeats(plan)}${plan.recurrence.until === null ? '' : html` until ${plan.recurrence.until}`}${plan.recurrence.except.length > 0 ? html`, except on ${plan.recurrence.except.join(', ')}` : ''}`;

/** Whether the plan is ongoing, how many pull requests are blocked, and where it is not enforced. */
function stateOf(
  { plan, account }: PlanVisit,
  { matched, nextOccurrences }: ShownPlan,
  { isOn, held, toHold, toAsk, notEnforced, notKnown }: Progress,
  now: Date,
): Html {
  const isScheduled = nextOccurrences.some(({ startsAt }) => startsAt > now);
  const badge = isOn
    ? html`<span class="badge held">Ongoing</span>
        <a href="${progressPath(account.login, { plan: plan.id })}"
          >${held === toHold ? countOf(held, 'pull request') : `${held} of ${countOf(toHold, 'pull request')}`}
          blocked</a
        >`
    : isScheduled
      ? html`<span class="badge scheduled">Scheduled</span>`
      : html`<span class="badge past">Not ongoing</span>`;
  return html`${badge} ${countOf(matched, 'repository', 'repositories')}
  ${notEnforced.length > 0 ? html`<strong class="leaking">${notEnforced.length} not enforced</strong>` : ''}
  ${notKnown.length + toAsk > 0 ? `${notKnown.length + toAsk} not known to be enforced` : ''}
  ${toAsk > 0 ? html`<span class="muted">Holdfast is still asking GitHub about ${toAsk}.</span>` : ''}`;
}

/**
 * The repositories with ongoing freezes of the plan that the viewer can read, the most important first, and how many
 * pull requests are blocked in each. The page of the freeze lists them.
 */
function ongoingIn({ plan, account, repositories }: PlanVisit, on: StoredFreeze[]): Html {
  const ids = new Map(on.map(({ repositoryId, id }) => [repositoryId, id]));
  const frozen = repositories.filter(({ id }) => ids.has(id));
  if (frozen.length === 0) return html``;
  return html`<h2>Ongoing</h2>
    <ul>
      ${frozen
        .slice(0, mostNamed)
        .map(
          ({ id, name, held, waiting }) =>
            html`<li>
              <a href="${freezePath({ name, account }, ids.get(id)!)}">${name}</a
              >${holdsMerges(plan) ? `: ${waiting > 0 ? `${held} of ` : ''}${countOf(held + waiting, 'pull request')} blocked` : ''}
            </li>`,
        )}
      ${frozen.length > mostNamed ? html`<li>and ${frozen.length - mostNamed} more</li>` : ''}
    </ul>`;
}

/** @param on the ongoing freezes of the plan. */
function actions(visit: PlanVisit, on: StoredFreeze[]): Html {
  const { plan, account } = visit;
  const action = (name: string) => `${planPath(account.login, plan.id)}/${name}`;
  const version = versionField(versionOf(plan));
  const [first] = on;
  const isEnded = isOnce(plan) && first !== undefined;
  return html`<div class="actions">
    ${
      isOnce(plan)
        ? extendForms(action('extend'), version, plan)
        : first
          ? html`<span class="muted">This occurrence:</span>
              ${extendForms(action('extend'), versionField(versionOfOngoing(on)), first)}
              ${endThisTime(visit, on)}`
          : ''
    }
    ${confirmation(
      isEnded ? 'End now…' : 'Delete…',
      action('delete'),
      html`${version}
        <p>
          This ${first ? 'ends the ongoing freezes' : 'deletes the scheduled freezes'} and the plan. You
          cannot undo this. The page stays.
        </p>
        ${whyField('delete')}`,
      isEnded ? 'End now' : 'Delete plan',
    )}
  </div>`;
}

/** Ends the ongoing freezes, like the Unfreeze page. The plan continues. */
const endThisTime = ({ plan, account, repositories, isAdmin }: PlanVisit, on: StoredFreeze[]): Html =>
  confirmation(
    'End now…',
    ownerFormPath(account.login, 'unfreeze'),
    html`${hidden('ongoing', `freezes ${plan.id}`)}
      ${isAdmin ? '' : repositories.filter(({ id }) => on.some(({ repositoryId }) => repositoryId === id)).map(({ name }) => hidden('repository', name))}
      <p>
        This ends the ongoing freezes in ${countOf(on.length, 'repository', 'repositories')}. The plan
        continues with its next occurrence.
      </p>
      ${whyField('end')}`,
    'End this occurrence',
  );

const whyField = (of: string): Html =>
  textArea({
    name: 'delete_reason',
    id: `why-${of}`,
    label: 'Reason',
    attributes: html`required maxlength="10000"`,
  });

/** Globs can name repositories that only the owner's admins see. Others see which ones they match. */
function repositoriesOf({ plan, account, repositories, isAdmin }: PlanVisit): Html {
  const { include, exclude } = plan.repositories;
  if (isAdmin) return html`${names(include)}${exclude.length > 0 ? html`, except ${names(exclude)}` : ''}`;
  const matched = matchedBy(plan, repositories).map(({ name }) => `${account.login}/${name}`);
  const more = matched.length - mostNamed;
  return html`${links(account.login, matched.slice(0, mostNamed))}${more > 0 ? `, and ${more} more` : ''}`;
}

const mostNamed = 50;

function details(visit: PlanVisit, shown: ShownPlan, times: Times, mayChange: boolean): Html {
  const { account, plan, repositories, isAdmin } = visit;
  const { nextOccurrences: next, notEnforced } = shown;
  const isSeen = (name: string) =>
    isAdmin || repositories.some((each) => `${account.login}/${each.name}` === name);
  const detached = shown.detached.filter(({ repository }) => isSeen(repository));
  const switchedOff = notEnforced.length > 0 ? links(account.login, notEnforced) : null;
  return html`${facts(visit, switchedOff, times, mayChange)}
    <h2>Next</h2>
    ${next.length > 0 ? occurrenceTable(next, plan.timezone, times) : html`<p>The calendar has no such events ahead.</p>`}
    ${
      detached.length > 0
        ? html`<h2>Changed separately</h2>
            <p class="muted">Somebody changed these freezes, so the plan no longer changes them.</p>
            <ul>
              ${detached.map(({ repository, freezeId, start }) => html`<li><a href="/repos/${repository}/freezes/${freezeId}">${repository}</a>, ${localDayAndTime(start, toLocalTime(times.now, plan.timezone))}</li>`)}
            </ul>`
        : ''
    }`;
}

const names = (globs: string[]): Html[] =>
  globs.map((glob, index) => html`${index > 0 ? ', ' : ''}<code>${glob}</code>`);

const links = (login: string, fullNames: string[]): Html =>
  html`${fullNames.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name: name.slice(login.length + 1), account: { login } })}#enforcement">${name}</a>`)}`;
