import { html } from 'hono/html';
import { actorName } from '../../events/actor.ts';
import { sharedEnds, whatIsBlocked } from '../../words/describe-fields.ts';
import { asPublic, holdsMerges } from '../../freezes/freeze.ts';
import {
  occurrencePath,
  ownerFormPath,
  ownerLivePath,
  planPath,
  plansPath,
  progressPath,
  repositoryPath,
} from '../../page-paths.ts';
import { next } from '../../plans/keep-plan.ts';
import { matchedBy, matchedRepositories } from '../../plans/matched-repositories.ts';
import { isOnce, type Occurrence } from '../../plans/occurrences.ts';
import { listPlans, pastPlans, type StoredPlan } from '../../plans/plan-store.ts';
import { shownName } from '../../plans/plan-name.ts';
import { hostOfCalendar, type Source } from '../../plans/plan.ts';
import {
  ongoingFreezes,
  type ShownPlan,
  loadPlan,
  warnOfDeployments,
  warnOfDates,
  warnOfGivenEnds,
} from '../../plans/show-plan.ts';
import { localDayAndTime, toLocalTime } from '../../time/local-time.ts';
import {
  countText,
  occurrenceTable,
  repetition,
  ruleWords,
  skippedNote,
} from '../freeze-now/plan-preview.ts';
import { blockedOf, deploymentsFrozen, frozenWord, notSaid, whatItHolds } from '../held.ts';
import { bulkBar, bulkBox } from '../bulk.ts';
import { warningsOfChange } from '../kept-answers.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { saidMessage, showPage } from '../message-page.ts';
import { type OwnerVisit, plansShownTo, type PlanVisit } from '../owner/open-owner.ts';
import { planProgress, type FreezeProgress, holdsNothing, whereStopped } from '../freeze-progress.ts';
import { lacksWords } from '../progress.ts';
import { readerTimes, unlessUnsaid } from '../reader.ts';
import { item } from '../repository/freeze-list.ts';
import { badge, stateLine } from '../states.ts';
import { instantText, longText, quotedText, type Times, untilTexts, warningNotices } from '../text.ts';
import { stillSo, undoEnding } from '../undo.ts';
import { mostMatchedNamed, ongoingList, pastOf } from './freezes-of-plan.ts';
import { deletionOfPlans, mayChangePlan, occurrenceActions, planActions, versionOf } from './plan-actions.ts';

/** How many plans that are over are listed, the newest first. */
const mostOver = 50;

/** `GET /owners/{owner}/plans`: the plans of an owner that the viewer may see, also those that are over. */
export async function showPlans(visit: OwnerVisit): Promise<Response> {
  const { deps, account, isAdmin } = visit;
  const { login } = account;
  const times = readerTimes(visit);
  const { now } = times;
  const isSeen = await plansShownTo(visit);
  const plans = (await listPlans(deps.db, account.id, now))
    .filter(isSeen)
    .map((plan) => ({ plan, next: next(plan, now, 1)[0] }))
    .toSorted((one, other) => (one.next?.startsAt.getTime() ?? 0) - (other.next?.startsAt.getTime() ?? 0));
  const past = (await pastPlans(deps.db, account.id, now, mostOver)).filter(({ plan }) => isSeen(plan));
  const rows = plans.map(({ plan, next }) =>
    planRow(visit, plan, next ? nextOf(plan, next, times) : '', isAdmin),
  );
  const pastRows = past.map(({ plan, ending }) =>
    planRow(visit, plan, html`${badge('ended')} ${instantText(ending.at, times, plan.timezone)}`),
  );
  const body = html`${saidMessage(visit.context)}
    <div class="headline">
      <h1>Plans</h1>
      ${visit.mayFreeze === true ? html`<a class="button" href="${ownerFormPath(login, 'plans/new')}">New plan</a>` : ''}
    </div>
    ${
      rows.length > 0
        ? html`${planTable(rows)}${isAdmin ? bulkBar(plansPath(login), deletionOfPlans) : ''}`
        : html`<p class="card">
            No plans. A plan freezes many repositories, once or again and again.
            <a href="/help/plans">How plans work</a>
          </p>`
    }
    ${
      pastRows.length > 0
        ? html`<h2>Over</h2>
            ${planTable(pastRows)}`
        : ''
    }`;
  const title = `Plans of ${login}`;
  const live = liveAt(visit, ownerLivePath(login));
  return showPage(visit, { title, body, owner: login, tab: 'plans', live });
}

const planTable = (rows: Html[]): Html =>
  html`<table class="stacked plans">
    <tbody>
      ${rows}
    </tbody>
  </table>`;

/** A plan, when, and what it blocks if that is not merges alone. @param hasBox whether it has a box. */
const planRow = ({ account, isAdmin }: OwnerVisit, plan: StoredPlan, when: Html | '', hasBox = false): Html =>
  html`<tr>
    <th scope="row">
      ${hasBox ? bulkBox(plan.id, shownName(plan, true), { version: versionOf(plan) }) : ''}
      <a href="${planPath(account.login, plan.id)}"><bdi>${shownName(plan, isAdmin)}</bdi></a>
    </th>
    <td>${when} ${whatIsBlocked(plan) ?? ''}</td>
    <td>${repeats(plan)}</td>
  </tr>`;

const repeats = ({ recurrence, start, source }: StoredPlan): Html | string =>
  source ? 'Follows a calendar' : recurrence ? ruleWords(recurrence.rule, start) : 'Once';

/** @param ends of the freezes that are on, if the page knows them. */
const nextOf = ({ timezone }: StoredPlan, one: Occurrence, times: Times, ends: (Date | null)[] = []): Html =>
  one.startsAt <= times.now
    ? html`${badge('frozen', 'Ongoing')}
      ${untilTexts(sharedEnds(ends.length > 0 ? ends : [one.endsAt]), times, timezone)}`
    : html`${badge('scheduled')} ${instantText(one.startsAt, times, timezone)}`;

/** `GET /owners/{owner}/plans/{plan}`: a plan and its forms. */
export async function showPlanPage(visit: PlanVisit): Promise<Response> {
  const { deps, plan, account } = visit;
  const times = readerTimes(visit);
  const { now } = times;
  const name = shownName(plan, visit.isAdmin);
  const crumbs = [{ name: 'Plans', href: plansPath(account.login) }, { name }];
  const live = liveAt(visit, ownerLivePath(account.login));
  const page = { title: name, owner: account.login, tab: 'plans', crumbs, live } as const;
  if (visit.ending)
    return showPage(visit, { ...page, body: endedPlan(visit, await pastOf(visit, times), times) });
  const ongoing = ongoingFreezes(deps.db, plan, now);
  const [past, shown, progress, on, ofEnds, ofChange, mayChange] = await Promise.all([
    pastOf(visit, times),
    matchedRepositories(deps.sql, plan).then((matched) => loadPlan(deps.db, account, plan, now, matched)),
    planProgress(visit, ongoing),
    ongoing,
    warnOfGivenEnds(deps.db, plan, [], now),
    warningsOfChange(deps, visit.context),
    unlessUnsaid(mayChangePlan(visit)).then((may) => may === true),
  ]);
  const ofDeployments = mayChange ? await warnOfDeployments(deps.db, plan, shown.nextOccurrences) : [];
  const isStillSo = await stillSo(visit);
  const isSo = (name: string) => !name.startsWith('plan-ended') && isStillSo(name);
  const body = html`${saidMessage(visit.context, undoEnding(visit, plan), isSo)}
    <h1><bdi>${name}</bdi></h1>
    ${planState(visit, shown, progress, times)}
    ${warningNotices([...new Set([...ofChange, ...ofEnds, ...warnOfDates(plan), ...ofDeployments])])}
    ${plan.source?.error ? html`<p class="notice" role="status">${plan.source.error} The events that it had before still freeze.</p>` : ''}
    ${mayChange ? occurrenceActions(visit, on) : ''} ${ongoingList(visit, on)}
    ${mayChange ? planActions(visit, on) : ''} ${details(visit, shown, progress, times, mayChange)} ${past}`;
  const frozen = frozenWord(holdsNothing(progress) ? [] : on.map(holdsMerges));
  return showPage(visit, { ...page, body, frozen });
}

/** A plan that is over or deleted: what it was, how it ended, and what it froze. */
function endedPlan(visit: PlanVisit, past: Html, times: Times): Html {
  const { context, plan, ending } = visit;
  const { at, by, reason } = ending!;
  // Somebody who ends what was ongoing deletes the plan, too: to people it ended.
  const word = by && !isOnce(plan) ? 'Deleted' : 'Ended';
  return html`${saidMessage(context, undoEnding(visit, plan), (said) => said !== 'restored')}
    <h1><bdi>${shownName(plan, visit.isAdmin)}</bdi></h1>
    ${stateLine('ended', html`${badge('ended', word)} ${instantText(at, times, plan.timezone)}`, {
      isHeading: false,
      counts: by ? [html`by <bdi>${actorName(by)}</bdi>: ${quotedText(reason ?? '')}`] : [],
    })}
    ${facts(visit, null, times, false)} ${past}`;
}

/** What a plan says. @param switchedOff where freezes are switched off. @param mayChange whether the viewer may. */
function facts(visit: PlanVisit, switchedOff: Html | null, times: Times, mayChange: boolean): Html {
  const { plan, isAdmin } = visit;
  return html`<dl class="card">
    ${item('Reason', longText((isAdmin ? plan : asPublic(plan)).reason))}
    ${isAdmin && plan.publicReason !== null ? item('Public reason', longText(plan.publicReason)) : ''}
    ${item('Repositories', repositoriesOf(visit))}
    ${switchedOff ? item('Freezes are switched off in', switchedOff) : ''}
    ${plan.recurrence ? item('Repeats', repetition(plan.recurrence, plan.start)) : ''}
    ${plan.source ? item('Calendar', followed(plan.source, mayChange)) : ''}
    ${plan.source ? item('Last read', instantText(new Date(plan.source.readAt), times)) : ''}
    ${item('Blocks', whatItHolds({ ...plan, startsAt: new Date(0), endsAt: null, repositoryId: 0n }))}
    ${item('Created by', html`${actorName(plan.createdBy)}`)}
    ${item('ID', html`<code class="id">${plan.id}</code>`)}
  </dl>`;
}

/** The calendar that a plan follows. Its address may be a secret. */
const followed = ({ url, titles }: Source, mayChange: boolean): Html =>
  html`<bdi>${mayChange ? url : hostOfCalendar(url)}</bdi
    >${titles ? html`, events named ${planNames(titles)}` : ', all events'}`;

/** Until when the plan is on, or when it is next; how many pull requests are blocked, and where it is not enforced. */
function planState(
  { plan, account }: PlanVisit,
  { matched, nextOccurrences }: ShownPlan,
  progress: FreezeProgress,
  times: Times,
): Html {
  const { isOn, held, toHold, toAsk, holdsMerges, deployments, stops } = progress;
  const notKnown = new Set([...progress.notKnown, ...progress.environmentsUnknown]).size + toAsk;
  // The one that is on, or else the next: one that somebody ended early is neither.
  const one = nextOccurrences.find(({ startsAt }) => startsAt <= times.now === isOn);
  const isLoose = isOn && holdsNothing(progress);
  const state = isLoose ? 'notEnforced' : isOn ? 'frozen' : one ? 'scheduled' : 'ended';
  const said = one ? nextOf(plan, one, times, progress.ends) : badge(state, isOn ? 'Ongoing' : 'Not ongoing');
  const blocked = blockedOf({ held, waiting: toHold - held, leaking: 0, unsaid: 0 });
  const counts = [
    isOn &&
      html`<a href="${progressPath(account.login, { plan: plan.id })}"
          >${holdsMerges ? blocked : isLoose ? 'No deployments frozen' : deploymentsFrozen}</a
        >
        ${deployments ?? ''}`,
    isOn && progress.unsaid > 0 && notSaid(progress.unsaid),
    countText(matched, 'repository', 'repositories'),
    isOn && stops !== null && `deployments wait ${whereStopped(progress)}`,
    ...lacksWords(progress),
    notKnown > 0 && `${notKnown} not known to be enforced`,
    toAsk > 0 && `Holdfast is still asking GitHub about ${toAsk}.`,
  ].filter((each) => each !== false);
  return stateLine(state, said, { counts, isHeading: false });
}

/** Globs can name repositories that only the owner's admins see. Others see which ones they match. */
function repositoriesOf({ plan, account, repositories, isAdmin }: PlanVisit): Html {
  const { include, exclude } = plan.repositories;
  if (isAdmin)
    return html`${planNames(include)}${exclude.length > 0 ? html`, except ${planNames(exclude)}` : ''}`;
  const matched = matchedBy(plan, repositories).used.map(({ name }) => `${account.login}/${name}`);
  const more = matched.length - mostMatchedNamed;
  return html`${links(account.login, matched.slice(0, mostMatchedNamed))}${more > 0 ? `, and ${more} more` : ''}`;
}

function details(
  visit: PlanVisit,
  shown: ShownPlan,
  progress: FreezeProgress,
  times: Times,
  mayChange: boolean,
): Html {
  const { account, plan, repositories, isAdmin } = visit;
  const { nextOccurrences: next } = shown;
  const isSeen = (name: string) =>
    isAdmin || repositories.some((each) => `${account.login}/${each.name}` === name);
  const skipped = Object.values(plan.changes ?? {}).filter(({ isSkipped }) => isSkipped);
  // What was skipped or moved as a whole is shown as such.
  const whole = new Set([...next.filter(({ isMoved }) => isMoved), ...skipped].map(({ start }) => start));
  const detached = shown.detached.filter(({ repository, start }) => isSeen(repository) && !whole.has(start));
  const changeOf = ({ start, startsAt }: Occurrence) =>
    mayChange && !isOnce(plan) && startsAt > times.now ? occurrencePath(account.login, plan.id, start) : null;
  // Only where the viewer sees the inside, which the progress knows.
  const notEnforced = shown.notEnforced.filter((name) =>
    progress.notEnforced.includes(name.slice(account.login.length + 1)),
  );
  const switchedOff = notEnforced.length > 0 ? links(account.login, notEnforced) : null;
  return html`${facts(visit, switchedOff, times, mayChange)} ${skippedNote(shown.archived)}
    <h2>Next</h2>
    ${next.length > 0 ? occurrenceTable(next, plan.timezone, times, changeOf) : html`<p>The calendar has no such events ahead.</p>`}
    ${
      skipped.length > 0
        ? html`<h2>Skipped</h2>
            <ul>
              ${skipped.map(({ start }) => html`<li>${localDayAndTime(start, toLocalTime(times.now, plan.timezone))} ${mayChange ? html`<a href="${occurrencePath(account.login, plan.id, start)}">Put back</a>` : ''}</li>`)}
            </ul>`
        : ''
    }
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

const planNames = (globs: string[]): Html[] =>
  globs.map((glob, index) => html`${index > 0 ? ', ' : ''}<code>${glob}</code>`);

const links = (login: string, fullNames: string[]): Html =>
  html`${fullNames.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name: name.slice(login.length + 1), account: { login } })}#enforcement">${name}</a>`)}`;
