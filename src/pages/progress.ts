import { html } from 'hono/html';
import { Refusal, refusedIf } from '../errors.ts';
import { freezeEnforcement, planEnforcement } from '../explanations/enforcement/progress.ts';
import { type EnforcedWord, enforcedOf } from '../explanations/repository-states.ts';
import { whatIsBlocked } from '../words/describe-fields.ts';
import { judgeHeldDeployments } from '../explanations/enforcement/judge-environments.ts';
import { holdsDeployments, holdsMerges } from '../freezes/freeze.ts';
import { onlyBranches } from '../freezes/judge-freeze.ts';
import { repositoryIdOf } from '../freezes/list-freezes.ts';
import { repositoriesOfIds } from '../installations/find-repository.ts';
import { freezePath, ownerLivePath, ownerPath, planPath, repositoryPath } from '../page-paths.ts';
import { matchedRepositories } from '../plans/matched-repositories.ts';
import { ongoingFreezes } from '../plans/show-plan.ts';
import { nowOf } from '../time/clock.ts';
import { dayAndTime } from '../time/local-time.ts';
import { countText } from './freeze-now/plan-preview.ts';
import { frozenWord } from './held.ts';
import type { Html } from './html.ts';
import { liveAt } from './live.ts';
import { saidMessage, showPage } from './message-page.ts';
import { findShownPlan, type OwnerVisit, type PlanVisit } from './owner/open-owner.ts';
import { absentPage } from './reader.ts';
import { progressSubject, tellPeople } from './tell-people.ts';
import { readerZone } from './text.ts';
import { about } from '../statuses/time-until-held.ts';

/** `GET /owners/{owner}/progress`: how many pull requests a new freeze holds already. The page updates itself until all is known. */
export async function showProgress(visit: OwnerVisit): Promise<Response> {
  const query = visit.context.req.query();
  const progress = await readProgress(visit, query);
  if (!progress) return absentPage(visit);
  const isMoving = progress !== 'over' && !isDone(progress);
  const { login } = visit.account;
  const body = html`<h1>Freezing ${login}</h1>
    ${saidMessage(visit.context)}
    <section class="card" aria-live="polite">
      ${progress === 'over' ? over : progressOf(progress, visit)}
    </section>
    <div class="actions">
      ${progress === 'over' ? '' : html`<a class="button quiet" href="${progress.path}">Details</a>`}
      <a class="button quiet" href="${ownerPath(login)}">All repositories</a>
    </div>
    ${progress === 'over' ? '' : await tellPeople(visit)}`;
  // With the address, because a browser that has a fragment would only go to that.
  const own = `/owners/${login}/progress?${new URLSearchParams(query)}`;
  const head = html`<noscript><meta http-equiv="refresh" content="5; url=${own}" /></noscript>`;
  return showPage(visit, {
    ...{ title: `Freezing ${login}`, body, owner: login, crumbs: [{ name: 'Progress' }] },
    frozen: frozenWord(progress !== 'over' && progress.isOn ? [progress.holdsMerges] : []),
    live: { ...liveAt(visit, ownerLivePath(login)), isMoving },
    ...(isMoving && { head }),
  });
}

/** Shown if the freeze ended or was deleted while the page was open. */
const over = html`<p class="progress-line">
  <span class="badge past">Over</span> The freeze has ended or was deleted.
</p>`;

/** `31 of 44 pull requests held on GitHub.` */
function progressOf(progress: FreezeProgress, { account, context, deps }: OwnerVisit): Html {
  const { isOn, repositories, toLook, toHold, held, toAsk, toSay, waiting, secondsUntilHeld } = progress;
  const { notEnforced, notKnown, heldAtOnceSince } = progress;
  if (!isOn)
    return html`<p class="progress-line">
      <span class="badge scheduled">Not started</span> The freeze holds nothing yet.
    </p>`;
  const where = countText(repositories, 'repository', 'repositories');
  const deployments =
    progress.deployments === null
      ? ''
      : html`<p>${progress.deployments} <a href="${progress.path}">${where}</a></p>`;
  if (!progress.holdsMerges)
    return html`<p class="progress-line"><span class="badge held">Deployments frozen</span></p>
      ${deployments} ${places(account, html`<strong class="leaking">Not enforced:</strong>`, notEnforced)}`;
  const done = isDone(progress);
  const isSure = held === toHold && notEnforced.length + notKnown.length === 0;
  return html`<p class="progress-line">
      <strong
        >${held === toHold ? countText(held, 'pull request') : `${held} of ${countText(toHold, 'pull request')}`}</strong
      >
      blocked on GitHub in ${where} ${done && isSure ? html`<span class="badge held">Frozen</span>` : ''}
    </p>
    ${deployments}
    ${done ? '' : html`<progress max="${Math.max(1, toHold)}" value="${held}" aria-label="Pull requests blocked"></progress>`}
    ${heldAtOnceSince ? html`<p>Blocked at once by a ruleset since <time datetime="${heldAtOnceSince.toISOString()}">${dayAndTime(heldAtOnceSince, readerZone(context), nowOf(deps.clock))}</time>.</p>` : ''}
    ${waiting > 0 && secondsUntilHeld === 0 ? html`<p>Rulesets block all of them already. Their statuses follow.</p>` : ''}
    ${secondsUntilHeld ? html`<p class="muted">${notEnforced.length + notKnown.length === 0 ? 'All of them are blocked' : 'Their statuses are written'} in ${about(secondsUntilHeld)}.</p>` : ''}
    ${toLook > 0 ? html`<p class="muted">Checking ${countText(toLook, 'more repository', 'more repositories')}.</p>` : ''}
    ${toAsk > 0 ? html`<p class="muted">Asking GitHub whether it is enforced in ${countText(toAsk, 'repository', 'repositories')}.</p>` : ''}
    ${toSay > 0 ? html`<p class="muted">GitHub has not said yet whether it would merge ${countText(toSay, 'pull request')}.</p>` : ''}
    ${places(account, html`<strong class="leaking">Not enforced:</strong>`, notEnforced)}
    ${places(account, html`<strong>GitHub doesn’t say whether it is enforced:</strong>`, notKnown)}`;
}

const places = (account: { login: string }, what: Html, names: string[]): Html =>
  names.length === 0
    ? html``
    : html`<p>
        ${what}
        ${names.map((name, index) => html`${index > 0 ? ', ' : ''}<a href="${repositoryPath({ name, account })}#enforcement">${name}</a>`)}
      </p>`;

/** How many of the pull requests that a freeze or a plan should hold are held on GitHub. */
export type FreezeProgress = {
  /** The page with the details. */
  path: string;
  /** Whether any of its freezes is ongoing. */
  isOn: boolean;
  holdsMerges: boolean;
  /** What it does to deployments, in sentences; null if nothing. */
  deployments: string | null;
  repositories: number;
  /** Repositories whose open pull requests still have to be checked. */
  toLook: number;
  toHold: number;
  /** Those that GitHub refuses: their status stands where it is required, or GitHub says so. */
  held: number;
  /** Pull requests whose status still has to be written. */
  waiting: number;
  /** Pull requests whose status stands, and of which GitHub will say soon whether it would merge them. */
  toSay: number;
  /** How long until what waits is blocked; 0 if a ruleset blocks it. */
  secondsUntilHeld: number | null;
  /** The number of repositories about which GitHub is still asked whether the freeze is enforced. */
  toAsk: number;
  /** Repositories where a freeze is not enforced, by name. */
  notEnforced: string[];
  /** Repositories where GitHub does not say whether it is enforced, by name. */
  notKnown: string[];
  /** Since when a ruleset holds the repository of a freeze at once. */
  heldAtOnceSince?: Date | null;
};

/** Whether nothing will change on its own. */
const isDone = ({ isOn, toLook, waiting, toSay, toAsk }: FreezeProgress): boolean =>
  !isOn || toLook + waiting + toSay + toAsk === 0;

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
  const progress = 'plan' in read.data ? ofPlan(visit, read.data.plan) : ofFreeze(visit, read.data.freeze);
  const found = await progress.catch(refusedIf('not-found'));
  return found instanceof Refusal ? 'over' : found;
}

async function ofPlan(visit: OwnerVisit, id: string): Promise<FreezeProgress | 'over' | null> {
  const found = await findShownPlan(visit, id);
  if (!found) return null;
  return found.ending ? 'over' : planProgress({ ...visit, ...found });
}

/** The progress of the ongoing freezes of a plan that is not over. */
export async function planProgress({
  deps,
  account,
  repositories,
  plan,
}: PlanVisit): Promise<FreezeProgress> {
  const [{ used }, ongoing] = await Promise.all([
    matchedRepositories(deps.sql, plan),
    ongoingFreezes(deps.db, plan, nowOf(deps.clock)),
  ]);
  const matched = new Set(used.map((each) => each.id));
  const on = new Set(ongoing.map(({ repositoryId }) => repositoryId));
  const rows = repositories.filter((each) => matched.has(each.id) || on.has(each.id));
  const [found, enforced] = await Promise.all([
    planEnforcement(deps, account, plan, used),
    enforcedOf(deps, rows, onlyBranches(plan) ?? undefined),
  ]);
  // What is known of branches says nothing about deployments.
  const namesOf = (word: EnforcedWord) =>
    (holdsMerges(plan) ? rows : []).filter((each) => enforced.get(each.id) === word).map(({ name }) => name);
  // Where it is not known that GitHub requires the check, a status alone blocks nothing. While we ask, the page says so.
  const isLoose = (id: bigint) => [false, 'unknown'].includes(enforced.get(id) ?? true);
  const unsure = [...found.unsure].flatMap(([id, its]) => (isLoose(id) ? its : []));
  const ownName = (fullName: string) => fullName.slice(account.login.length + 1);
  return {
    ...found,
    path: planPath(account.login, plan.id),
    isOn: on.size > 0,
    holdsMerges: holdsMerges(plan),
    deployments: whatIsBlocked(plan),
    repositories: matched.size,
    held: found.held - unsure.reduce((sum, its) => sum + its.held, 0),
    toSay: unsure.reduce((sum, its) => sum + its.asked, 0),
    toLook: rows.filter((each) => on.has(each.id) && each.isUpdating).length,
    toAsk: namesOf(null).length,
    notEnforced: [...new Set([...found.notEnforced.map(ownName), ...namesOf(false)])],
    notKnown: namesOf('unknown'),
  };
}

async function ofFreeze(
  { deps, repositories, archived }: OwnerVisit,
  id: string,
): Promise<FreezeProgress | null> {
  const repositoryId = await repositoryIdOf(deps.db, id);
  const row = [...repositories, ...archived].find((each) => each.id === repositoryId);
  const [repository] = row ? await repositoriesOfIds(deps.sql, [row.id]) : [];
  if (!repository) return null;
  const { freeze, environments, phase, held, isLookDue, enforced, instant, secondsUntilHeld } =
    await freezeEnforcement(deps, repository, id);
  const of = (why: (typeof held)[number]['notHeld']) => held.filter(({ notHeld }) => notHeld === why).length;
  const unsure = held.filter(
    ({ notHeld, mergeAnswer }) => notHeld === null && enforced !== true && mergeAnswer !== 'refuses',
  );
  const isSeenNotHeld = held.some(({ notHeld }) => notHeld !== null && notHeld !== 'waiting');
  return {
    path: freezePath(repository, id),
    isOn: phase === 'ongoing',
    holdsMerges: holdsMerges(freeze),
    deployments: holdsDeployments(freeze)
      ? `${whatIsBlocked(freeze)} ${judgeHeldDeployments(freeze, environments).sentence}`
      : null,
    repositories: 1,
    toLook: isLookDue && holdsMerges(freeze) ? 1 : 0,
    toHold: held.length,
    held: of(null) - unsure.length,
    waiting: of('waiting'),
    toSay: unsure.filter(({ mergeAnswer }) => mergeAnswer === 'asked').length,
    secondsUntilHeld,
    toAsk: 0,
    notEnforced: enforced === false || isSeenNotHeld ? [repository.name] : [],
    notKnown: enforced === 'unknown' && !isSeenNotHeld && holdsMerges(freeze) ? [repository.name] : [],
    heldAtOnceSince: instant.since,
  };
}
