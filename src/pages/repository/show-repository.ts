import { html } from 'hono/html';
import { isForgotten, holdsDeployments, holdsMerges } from '../../freezes/freeze.ts';
import { parseStoredFreeze } from '../../freezes/judge-freeze.ts';
import { isJudged, type FreezeRecord } from '../../freezes/list-freezes.ts';
import {
  recentEnforcement,
  type EnforcementReport,
} from '../../explanations/enforcement/recent-enforcement.ts';
import { type ListedEvent, retentionDays } from '../../events/list-events.ts';
import { fullName } from '../../installations/find-repository.ts';
import type { Html } from '../html.ts';
import { liveAt } from '../live.ts';
import { saidMessage, showPage } from '../message-page.ts';
import { stillApproved, stillSo, undoApproval, undoEnding } from '../undo.ts';
import { readUuid } from '../../api/fields.ts';
import { findExemption } from '../../exemptions/exemption-store.ts';
import {
  calendarPath,
  ownerFormPath,
  repositoryAuditPath,
  repositoryLivePath,
  repositorySettingsPath,
} from '../../page-paths.ts';
import { refuseOutsiders } from '../insiders.ts';
import {
  hasAnyRole,
  mayAs,
  permissionOf,
  type RepositoryVisit,
  readerTimes,
  unlessUnsaid,
} from '../reader.ts';
import { eventList, type NamedInEvents, namesInEvents } from '../audit/event-list.ts';
import { enforcement } from './enforcement.ts';
import {
  currentFreezeList,
  deploymentsWord,
  pastFreezeList,
  heldByFreeze,
  freezeStateOf,
  isHollow,
} from './freeze-list.ts';
import { whatDeploymentsDo } from '../../words/describe-fields.ts';
import { isHeld, loadPage, type RepositoryPage, readRepositoryView, linkTo } from './load-page.ts';
import { pullRequestList } from './pull-request-list.ts';
import { waitingDeployments } from './waiting-deployments.ts';
import { isFreezeEnforced } from '../../explanations/enforcement/finding.ts';
import { holdsSomething, judgeHeldDeployments } from '../../explanations/enforcement/judge-environments.ts';
import { frozenStateAt } from '../../plans/frozen-state.ts';
import { countText } from '../freeze-now/plan-preview.ts';
import { asGitHubSees, heldCounts, frozenWord, notJudged } from '../held.ts';
import { stateLine } from '../states.ts';
import { shorten } from '../../words/event-words.ts';
import { instantText, instantAndDistance } from '../text.ts';

/** `GET /repos/{owner}/{repository}`: the repository's freezes, whether they are enforced, and who did what last. */
export async function showRepository(visit: RepositoryVisit): Promise<Response> {
  const { deps, context, repository } = visit;
  const times = readerTimes(visit);
  const { view, problems } = readRepositoryView(context.req.query());
  const refusal = await refuseOutsiders(visit);
  const [loaded, report, mayChange, permission] = await Promise.all([
    loadPage(deps, repository, view, times, refusal === null),
    refusal ? null : recentEnforcement(deps, repository),
    mayAs(visit, 'freezer'),
    permissionOf(visit),
  ]);
  const open = await asGitHubSees(deps, repository, loaded.open, refusal === null);
  const isAdmin = permission === 'admin';
  const mayWrite = isAdmin || permission === 'write';
  const listsExemptions = mayWrite || (loaded.exemptions.length > 0 && (await mayAs(visit, 'approver')));
  const page = {
    ...{ ...loaded, open, held: open.filter(isHeld) },
    // Whoever is inside without being a writer sees which freezes there are, and not what they hold.
    waiting: mayWrite ? loaded.waiting : [],
    exemptions: listsExemptions ? loaded.exemptions : [],
  };
  const readsLog = isAdmin || (await unlessUnsaid(hasAnyRole(visit, permission))) === true;
  const isNew = page.current.length + page.past.freezes.length === 0;
  const { account, name } = repository;
  const chosen = new URLSearchParams({ repository: name });
  const freezeNow = `${ownerFormPath(account.login, 'freeze')}?${chosen}`;
  const approved = await approvedNow(visit);
  const isApproved = stillApproved(context, approved);
  const isEnded = await stillSo({ ...visit, account });
  const undo = undoApproval(visit, approved) || undoEnding({ ...visit, account });
  const actions = html`<div class="actions">
    ${mayChange ? html`<a class="button freeze" href="${freezeNow}">Freeze now</a>` : ''}
    ${mayChange && page.current.some((freeze) => freezeStateOf(freeze, page.now) === 'ongoing') ? html`<a class="button danger" href="${ownerFormPath(account.login, 'unfreeze')}?${chosen}">Unfreeze</a>` : ''}
    <a class="button quiet" href="${calendarPath(account.login, { repositories: [name] })}">Calendar</a>
    ${isAdmin ? html`<a class="button quiet" href="${repositorySettingsPath(repository)}">Settings</a>` : ''}
  </div>`;
  const isLoose =
    report !== null &&
    page.current.some(
      (freeze) =>
        holdsDeployments(freeze) && judgeHeldDeployments(freeze, report.environments).enforced === false,
    );
  const body = html`${saidMessage(context, undo, (said) => isApproved(said) && isEnded(said))}
    ${firstLine(page, report, actions)} ${[...problems, ...page.problems].map(notice)}
    ${forgotten(page, mayChange)}
    <div class="columns">
      <div>
        ${isNew ? firstSteps(refusal === null, mayChange ? freezeNow : null) : ''}
        ${pullRequestList(page, mayWrite)} ${await waitingDeployments(visit, page, permission)}
      </div>
      <aside>
        ${isNew ? '' : currentFreezeList(page, report, mayChange)}
        ${refusal ?? enforcement(report, times, isLoose)} ${pastFreezeList(page)}
        ${page.log ? latestEvents(page.log, page, readsLog, await namesInEvents(deps, page.log)) : ''}
      </aside>
    </div>`;
  const ongoing = page.current.filter((freeze) => freezeStateOf(freeze, page.now) === 'ongoing');
  return showPage(visit, {
    ...{ title: fullName(repository), body, owner: account.login, crumbs: [{ name }] },
    frozen: frozenWord(ongoing.filter((each) => !isHollow(each, report)).map(holdsMerges)),
    live: liveAt(visit, repositoryLivePath(repository)),
  });
}

/** The exemption of a deployment that the reader has just approved, as the URL says. */
async function approvedNow({ deps, context, repository }: RepositoryVisit) {
  const id = readUuid(context.req.query('approved'));
  const exemption = id === null ? null : await findExemption(deps.db, repository.id, id);
  return exemption ? [{ exemption, repository }] : [];
}

/** Who did what last. @param readsLog whether the viewer may open the audit log. */
const latestEvents = (
  events: ListedEvent[],
  { repository, times }: RepositoryPage,
  readsLog: boolean,
  named: NamedInEvents,
): Html =>
  html`<section id="log" aria-labelledby="log-heading">
    <details class="fold">
      <summary><h2 id="log-heading">Latest events</h2></summary>
      ${
        events.length === 0
          ? html`<p class="muted">No events in the last ${retentionDays} days.</p>`
          : eventList(events, times, { ...repository.account, named })
      }
    </details>
    ${readsLog ? html`<p><a href="${repositoryAuditPath(repository)}">Audit log</a></p>` : ''}
  </section>`;

/**
 * The first line: whether it is frozen, until when, how many pull requests are blocked, whether that is enforced, and what
 * comes next.
 * @param report null if it is unknown, or not for the viewer.
 */
function firstLine(page: RepositoryPage, report: EnforcementReport | null, actions: Html): Html {
  const { repository, current, held, now, times } = page;
  const all = current.filter((freeze) => freezeStateOf(freeze, now) === 'ongoing');
  const ongoing = all.filter(holdsMerges);
  const next = current.find((freeze) => freezeStateOf(freeze, now) === 'scheduled');
  const ids = new Set(ongoing.map(({ id }) => id));
  const heldByThem = held.filter(({ heldBy }) => heldBy.some((id) => ids.has(id)));
  const isAllJudged = ongoing.every((each) => isJudged(repository, each));
  const left = held.length - heldByThem.length;
  const counts = [
    ongoing.length > 1 ? `${ongoing.length} freezes are ongoing` : null,
    ongoing.length > 0 ? html`${heldCounts(heldByThem)} ${isAllJudged ? '' : notJudged}` : null,
    ...all
      .filter((each) => holdsDeployments(each))
      .map((each) => ofDeployments(page, each, report, ongoing.length > 0)),
    // What is so about merges matters while no freeze is ongoing, or one of merges.
    report && (ongoing.length > 0 || all.length === 0) ? isEnforced(page, ongoing, report) : null,
    left > 0 ? html`<span class="updating">${releasing(left)}</span>` : null,
    next ? html`Next: ${link(page, next)}, from ${instantText(next.startsAt, times, next.timezone)}` : null,
  ].filter((each) => each !== null);
  const name = html`<bdi>${fullName(repository)}</bdi>`;
  if (ongoing.length > 0)
    return stateLine('frozen', html`${name} is frozen ${untilOf(page, ongoing)}`, { counts, actions });
  if (all.length > 0 && all.every((each) => isHollow(each, report)))
    return stateLine('notEnforced', html`The freeze of deployments of ${name} is not enforced`, {
      counts: [noMerges, ...counts],
      actions,
    });
  return all.length > 0
    ? stateLine('frozen', deploymentsAre(name, all, report), { counts: [noMerges, ...counts], actions })
    : stateLine('free', html`${name} is free`, { counts: ['No freezes are ongoing.', ...counts], actions });
}

const noMerges = 'No freeze of merges is ongoing.';

/** @param report null for those who may not know it. */
const deploymentsAre = (name: Html, all: FreezeRecord[], report: EnforcementReport | null): Html =>
  report && all.some((each) => holdsSomething(judgeHeldDeployments(each, report.environments).held) === true)
    ? html`Deployments of ${name} are frozen`
    : html`A freeze of deployments is on in ${name}`;

/** What a freeze does to deployments, whether GitHub waits for us, and how many wait. @param areMergesFrozen by any freeze. */
function ofDeployments(
  { waiting }: RepositoryPage,
  freeze: FreezeRecord,
  report: EnforcementReport | null,
  areMergesFrozen: boolean,
): Html {
  const its = waiting.filter(({ freezeIds }) => freezeIds.includes(freeze.id)).length;
  return html`${whatDeploymentsDo(freeze)}${areMergesFrozen ? '' : '; merges are not blocked'}.
  ${its > 0 ? `${countText(its, 'deployment')} ${its === 1 ? 'waits' : 'wait'} now.` : ''}
  ${report ? deploymentsWord(freeze, report, '#enforcement') : ''}`;
}

const releasing = (count: number): string =>
  `Holdfast is releasing ${countText(count, 'pull request')} that GitHub still blocks.`;

/** When the last of them ends. */
function untilOf({ current, now, times }: RepositoryPage, ongoing: FreezeRecord[]): Html | string {
  const kept = current.map((freeze) => ({ parsed: parseStoredFreeze(freeze), deletedAt: null }));
  const { nextTransitionAt: until } = frozenStateAt(kept, { base: null }, now);
  if (!until) return ongoing.length === 1 ? 'until removed' : 'without an end';
  const { timezone } = ongoing.find(({ endsAt }) => endsAt?.getTime() === until.getTime()) ?? ongoing[0]!;
  return html`until ${instantAndDistance(until, times, timezone)}`;
}

/** Links to the row of a freeze. The row may be on another page of the list. */
function link({ listed, view }: RepositoryPage, { id, reason }: FreezeRecord): Html {
  const row = listed.rows.find((freezes) => freezes.some((freeze) => freeze.id === id));
  const href = row ? `#freeze-${row[0]!.id}` : linkTo(view, { current: id }, `freeze-${id}`);
  return html`<a href="${href}" dir="auto">${shorten(reason, 120)}</a>`;
}

function isEnforced({ held }: RepositoryPage, ongoing: FreezeRecord[], report: EnforcementReport): Html {
  const wordOf = (freeze: FreezeRecord) => isFreezeEnforced(report, freeze, heldByFreeze(held, freeze));
  const words = ongoing.length === 0 ? [report.enforced] : ongoing.map(wordOf);
  const word = ([false, 'unknown'] as const).find((worst) => words.includes(worst)) ?? true;
  if (word === true) return html`Enforced: GitHub refuses to merge what is frozen`;
  return word === false
    ? html`<a class="badge leaking" href="#enforcement">Not enforced</a> GitHub would merge pull requests
        anyway`
    : html`Not known to be enforced, <a href="#enforcement">see why</a>`;
}

/** How many forgotten freezes are named. */
const mostForgottenNamed = 3;

const advice = (mayChange: boolean): string =>
  mayChange
    ? 'If nobody needs it, delete it or set an end.'
    : 'If nobody needs it, ask an admin or a freezer to delete it or to set an end.';

/** Points out freezes that somebody may have forgotten. */
function forgotten(page: RepositoryPage, mayChange: boolean): Html {
  const all = page.current.filter((freeze) => isForgotten(freeze, page.now));
  const more = all.length - mostForgottenNamed;
  const named = all.slice(0, mostForgottenNamed).map((freeze) => {
    const since = instantText(freeze.startsAt, page.times, freeze.timezone);
    return notice(
      html`${link(page, freeze)} has been ongoing since ${since} and has no end. ${advice(mayChange)}`,
    );
  });
  const others = `${more} more ${more === 1 ? 'has' : 'have'} been ongoing for two weeks without an end.`;
  return html`${named} ${more > 0 ? notice(others) : ''}`;
}

const notice = (text: Html | string): Html => html`<p class="notice" role="status">${text}</p>`;

/** The first steps in a repository without freezes. @param freezeNow the page to create one; null if the viewer may not. */
const firstSteps = (isInside: boolean, freezeNow: string | null): Html =>
  html`<section class="card" aria-labelledby="first-heading">
    <h2 class="first" id="first-heading">This repository has no freezes yet</h2>
    <ol>
      <li>
        ${
          isInside
            ? html`<a href="#enforcement">Check whether freezes are enforced</a>. GitHub must require the
                check.`
            : 'Sign in as a person who can write to the repository to see whether freezes are enforced.'
        }
      </li>
      <li>
        ${freezeNow === null ? 'Ask an admin or a freezer to create the first freeze.' : html`<a href="${freezeNow}">Create the first freeze</a>.`}
      </li>
      <li>The check of each pull request then links to a page that explains why it is blocked.</li>
    </ol>
  </section>`;
