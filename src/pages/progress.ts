import { html } from 'hono/html';
import { Refusal, refusedIf } from '../errors.ts';
import { listedWords } from '../words/event-words.ts';
import { ownerFormPath, ownerLivePath, ownerPath, repositoryPath } from '../page-paths.ts';
import { nowOf } from '../time/clock.ts';
import { dayAndTime } from '../time/local-time.ts';
import { countText } from './freeze-now/plan-preview.ts';
import { deploymentsFrozen, frozenWord, notSaid } from './held.ts';
import type { Html } from './html.ts';
import { liveAt } from './live.ts';
import { saidMessage, showPage } from './message-page.ts';
import { findShownPlan, type OwnerVisit } from './owner/open-owner.ts';
import { frozenWords } from './owner/state-of-owners.ts';
import { absentPage, readerTimes } from './reader.ts';
import { badge, stateLine } from './states.ts';
import { progressSubject, tellPeople } from './tell-people.ts';
import { readerZone } from './text.ts';
import { about } from '../statuses/time-until-held.ts';
import {
  type FreezeProgress,
  freezeProgress,
  holdsNothing,
  isProgressDone,
  lacksOf,
  type NamedPlace,
  planProgress,
  whereStopped,
} from './freeze-progress.ts';

/** `GET /owners/{owner}/progress`: how many pull requests a new freeze holds already. The page updates itself until all is known. */
export async function showProgress(visit: OwnerVisit): Promise<Response> {
  const query = visit.context.req.query();
  const progress = await readProgress(visit, query);
  if (!progress) return absentPage(visit);
  const isMoving = progress !== 'over' && !isProgressDone(progress);
  const { login } = visit.account;
  const isFrozen = progress !== 'over' && progress.isOn && !isMoving;
  const title = isFrozen ? `Freeze of ${login}` : `Freezing ${login}`;
  const body = html`${isFrozen ? stateLine(holdsNothing(progress) ? 'notEnforced' : 'frozen', whatIsOn(visit, progress), { counts: whatLeaks(progress) }) : html`<h1>${title}</h1>`}
    ${saidMessage(visit.context)}
    <section class="card" aria-live="polite">
      ${progress === 'over' ? over : progressOf(progress, visit)}
    </section>
    <div class="actions">
      ${progress === 'over' ? '' : html`${unfreezeLink(visit, progress)}<a class="button quiet" href="${progress.path}">Details</a>`}
      <a class="button quiet" href="${ownerPath(login)}">All repositories</a>
    </div>
    ${progress === 'over' ? '' : await tellPeople(visit, progress)}`;
  // With the address, because a browser that has a fragment would only go to that.
  const own = `/owners/${login}/progress?${new URLSearchParams(query)}`;
  const head = html`<noscript><meta http-equiv="refresh" content="5; url=${own}" /></noscript>`;
  return showPage(visit, {
    ...{ title, body, owner: login, crumbs: [{ name: 'Progress' }] },
    frozen: frozenWord(
      progress !== 'over' && progress.isOn && !holdsNothing(progress) ? [progress.holdsMerges] : [],
    ),
    live: { ...liveAt(visit, ownerLivePath(login)), isMoving },
    ...(isMoving && { head }),
  });
}

/** What is frozen until when, as the first lines of other pages say it. */
function whatIsOn(visit: OwnerVisit, progress: FreezeProgress): Html {
  const { only, ends, holdsMerges, deployments, stops } = progress;
  if (only && !holdsMerges)
    return stops?.known === 1
      ? html`Deployments of <bdi>${only}</bdi> are frozen`
      : html`A freeze of deployments is on in
          <bdi>${only}</bdi>${holdsNothing(progress) ? ', and not enforced' : ''}`;
  const all = only ? 1 : visit.repositories.length;
  const frozen = holdsMerges ? ends.length : 0;
  const known = stops ? { frozen: stops.known, unknown: stops.unknown } : { frozen: 0, unknown: ends.length };
  const counts = { frozen, all, deployments: deployments === null ? null : known };
  return frozenWords(only ?? visit.account.login, counts, ends, readerTimes(visit));
}

/** In how many repositories it blocks nothing, and where that is not known: the card below names them. */
const whatLeaks = (progress: FreezeProgress): Html[] => {
  const unknown = new Set([...progress.notKnown, ...progress.environmentsUnknown]).size;
  return [...lacksWords(progress), ...(unknown > 0 ? [html`${unknown} not known to be enforced`] : [])];
};

/** In red where something goes past it, not where there is nothing to hold. */
const ofNotEnforced = (count: number, { notEnforced, withoutRule }: FreezeProgress): Html =>
  notEnforced.length > 0 || withoutRule.some(({ isPartly }) => !isPartly)
    ? html`<strong class="leaking">${count} not enforced</strong>`
    : html`${count} not enforced: there is no such environment`;

/** In how many repositories it is not enforced, or only in part; nothing if it is in all. */
export function lacksWords(progress: FreezeProgress): Html[] {
  const { notEnforced, partly } = lacksOf(progress);
  return [
    ...(notEnforced > 0 ? [ofNotEnforced(notEnforced, progress)] : []),
    ...(partly > 0 ? [html`<strong class="leaking">${partly} enforced in part</strong>`] : []),
  ];
}

/** Leads to the form that ends freezes, where this one is selected. */
const unfreezeLink = ({ account, mayFreeze }: OwnerVisit, { isOn, toEnd }: FreezeProgress): Html | '' =>
  isOn && mayFreeze === true
    ? html`<a
        class="button danger"
        href="${ownerFormPath(account.login, 'unfreeze')}?${new URLSearchParams(toEnd)}"
        >Unfreeze…</a
      >`
    : '';

/** Shown if the freeze ended or was deleted while the page was open. */
const over = html`<p class="progress-line">
  <span class="badge past">Over</span> The freeze has ended or was deleted.
</p>`;

/** `31 of 44 pull requests held on GitHub.` */
function progressOf(progress: FreezeProgress, { account, context, deps }: OwnerVisit): Html {
  const { isOn, repositories, toLook, toHold, held, toAsk, waiting, secondsUntilHeld } = progress;
  const unsaid = Math.max(progress.unsaid, progress.toSay);
  const { notEnforced, notKnown, heldAtOnceSince } = progress;
  if (!isOn)
    return html`<p class="progress-line">
      <span class="badge scheduled">Not started</span> The freeze holds nothing yet.
    </p>`;
  const where = countText(repositories, 'repository', 'repositories');
  const deployments =
    progress.deployments === null
      ? ''
      : html`<p>
          ${progress.deployments}
          <a href="${progress.path}">${progress.only ? where : whereStopped(progress)}</a>
        </p>`;
  const environments = html`${places(account, html`<strong class="leaking">The rule is not enabled:</strong>`, progress.withoutRule)}
  ${places(account, html`<strong>No such environment:</strong>`, progress.withoutEnvironment)}
  ${places(account, html`<strong>Not known which environments there are:</strong>`, progress.environmentsUnknown)}`;
  const asking =
    toAsk > 0
      ? html`<p class="muted">
          Asking GitHub whether it is enforced in ${countText(toAsk, 'repository', 'repositories')}.
        </p>`
      : '';
  if (!progress.holdsMerges)
    return html`<p class="progress-line">
        ${holdsNothing(progress) ? badge('notEnforced') : badge('frozen', deploymentsFrozen)}
      </p>
      ${deployments} ${environments} ${asking}
      ${places(account, html`<strong class="leaking">Not enforced:</strong>`, notEnforced)}`;
  const done = isProgressDone(progress);
  const isSure = held === toHold && notEnforced.length + notKnown.length + progress.withoutRule.length === 0;
  return html`<p class="progress-line">
      <strong
        >${held === toHold ? countText(held, 'pull request') : `${held} of ${countText(toHold, 'pull request')}`}</strong
      >
      blocked on GitHub in ${where} ${done && isSure ? html`<span class="badge held">Frozen</span>` : ''}
    </p>
    ${deployments} ${environments}
    ${done ? '' : html`<progress max="${Math.max(1, toHold)}" value="${held}" aria-label="Pull requests blocked"></progress>`}
    ${heldAtOnceSince ? html`<p>Blocked at once by a ruleset since <time datetime="${heldAtOnceSince.toISOString()}">${dayAndTime(heldAtOnceSince, readerZone(context), nowOf(deps.clock))}</time>.</p>` : ''}
    ${waiting > 0 && secondsUntilHeld === 0 ? html`<p>Rulesets block all of them already. Their statuses follow.</p>` : ''}
    ${secondsUntilHeld ? html`<p class="muted">${notEnforced.length + notKnown.length === 0 ? 'All of them are blocked' : 'Their statuses are written'} in ${about(secondsUntilHeld)}.</p>` : ''}
    ${toLook > 0 ? html`<p class="muted">Checking ${countText(toLook, 'more repository', 'more repositories')}.</p>` : ''}
    ${asking} ${unsaid > 0 ? html`<p class="muted">${notSaid(countText(unsaid, 'pull request'))}.</p>` : ''}
    ${places(account, html`<strong class="leaking">Not enforced:</strong>`, notEnforced)}
    ${places(account, html`<strong>GitHub doesn’t say whether it is enforced:</strong>`, notKnown)}
    ${done && held < toHold ? notBlocked(toHold - held, notKnown.length > 0) : ''}`;
}

const notBlocked = (count: number, isUnsure: boolean): Html =>
  html`<p class="leaking">
    ${countText(count, 'pull request is', 'pull requests are')} not
    ${isUnsure ? 'known to be blocked' : 'blocked'}.
  </p>`;

/** How many repositories of a kind are named, and how many environments of one. */
const mostPlaces = 100;
const mostEnvironmentsNamed = 5;

const places = (account: { login: string }, what: Html, all: (string | NamedPlace)[]): Html => {
  const left = all.length - mostPlaces;
  return all.length === 0
    ? html``
    : html`<p>
        ${what}
        ${all
          .slice(0, mostPlaces)
          .map((each) => (typeof each === 'string' ? { name: each } : each))
          .map(
            ({ name, of = [] }: NamedPlace, index) =>
              html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}#enforcement"
                  >${name}</a
                >${of.length > 0 ? html` (<bdi>${listedWords(of, mostEnvironmentsNamed)}</bdi>)` : ''}`,
          )}
        ${left > 0 ? `and ${left} more` : ''}
      </p>`;
};

/**
 * The progress that a URL asks for, if the viewer can read every repository that it is about.
 * @returns `over` if it has ended; null if there is none or the viewer may not see it.
 */
async function readProgress(
  visit: OwnerVisit,
  query: Record<string, string>,
): Promise<FreezeProgress | 'over' | null> {
  const read = progressSubject.safeParse(query);
  if (!read.success) return null;
  const progress =
    'plan' in read.data ? ofPlan(visit, read.data.plan) : freezeProgress(visit, read.data.freeze);
  const found = await progress.catch(refusedIf('not-found'));
  return found instanceof Refusal ? 'over' : found;
}

async function ofPlan(visit: OwnerVisit, id: string): Promise<FreezeProgress | 'over' | null> {
  const found = await findShownPlan(visit, id);
  if (!found) return null;
  return found.ending ? 'over' : planProgress({ ...visit, ...found });
}
