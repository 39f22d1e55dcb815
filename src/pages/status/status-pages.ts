import { html } from 'hono/html';
import * as params from '../../api/fields.ts';
import { recentEvents } from '../../events/list-events.ts';
import { exemptionsSince } from '../../exemptions/exemption-store.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { pullRequestPath, repositoryLivePath, repositoryPath } from '../../page-paths.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { readSettings } from '../../settings/settings.ts';
import { writtenStatuses } from '../../statuses/write-store.ts';
import { eventList } from '../audit/event-list.ts';
import { formProblem, type FormProblems } from '../form.ts';
import type { Html } from '../html.ts';
import { layout, type LayoutPage } from '../layout.ts';
import { liveAt } from '../live.ts';
import { isInsider, reading } from '../insiders.ts';
import {
  absentPage,
  mayAs,
  type PageDeps,
  permissionOf,
  type RepositoryVisit,
  silentPage,
  readerTimes,
  waysWithoutGitHub,
} from '../reader.ts';
import { instantText, type Times } from '../text.ts';
import { written } from './request-card.ts';
import { timeline } from './timeline.ts';
import { saidMessage } from '../message-page.ts';
import { stillApproved, undoApproval } from '../undo.ts';
import { isNotBlocked } from '../held.ts';
import { exemptionForms, exemptionNotice, isFormOn, shownExemption, standingIn } from './exemption-forms.ts';
import { cards, holding, passing, type ShownFreeze, statusesTable, waysThrough } from './freeze-card.ts';
import { closedVerdict } from './let-through.ts';
import {
  answer,
  freezesOfPage,
  hideReason,
  isOpenPullRequest,
  otherHolds,
  readAs,
  showablePullRequest,
  type ShownPullRequest,
  verdictOfPage,
} from './shown-pull-request.ts';

// The pages that the statuses on GitHub link to.

/** A form of the page that was refused, and why. */
export type RefusedRequest = { form: URLSearchParams; problems: FormProblems };

/**
 * The page that a pull request's status links to: whether it is held, until when, why, and how it gets through. People
 * who can write to the repository get the exemption forms. `?exempt` opens the one that requests an exemption.
 * @param refused the form to show again with its errors; the status is 422.
 */
export async function pullRequestPage(
  visit: RepositoryVisit,
  refused: RefusedRequest | null = null,
): Promise<Response> {
  const { deps, context, repository } = visit;
  const number = numberOf(visit);
  const isInside = await isInsider(visit);
  const shown = number === null ? 'absent' : await showablePullRequest(deps, repository, number, isInside);
  if (shown === 'absent') return absentPage(visit);
  if (shown === 'silent') return silentPage(visit);
  const times = readerTimes(visit);
  const { now } = times;
  const permission = await permissionOf(visit);
  const since = new Date(now.getTime() - shownFor);
  const [statuses, all, settings, history] = await Promise.all([
    writtenStatuses(deps.db, repository.id, shown.headSha),
    exemptionsSince(deps.db, repository.id, shown.number, since),
    readSettings(deps.db, repository.id),
    isInside
      ? recentEvents(
          deps,
          repository,
          { pullRequest: [String(shown.number)] },
          { perPage: mostPullRequestEvents },
        )
      : null,
  ]);
  const exemption = await hideReason(deps, repository, shownExemption(all, now));
  const secrets = [...freezesOfPage(shown), ...(exemption ? [exemption] : [])];
  const read = await reading(visit, secrets);
  const standing = await standingIn(visit, permission, settings);
  const mayEnd = shown.holding.length > 0 && (await mayAs(visit, 'freezer'));
  const ender = mayEnd ? null : standing.ender;
  const ways = (some: ShownFreeze[], isOnly: boolean) => waysThrough(some, isOnly, repository, ender, times);
  const seen = readAs(read, shown);
  const asked = { isAsked: context.req.query('exempt') !== undefined, refused };
  const shownOnce = exemption && read(exemption);
  const granted = shownOnce && isFormOn(shownOnce, now) ? shownOnce : null;
  const about = { exemptions: all, events: history?.events ?? [] };
  const said = isOpenPullRequest(seen)
    ? verdictOfPage(seen, granted, times)
    : closedVerdict(seen, about, times);
  const isExempt = granted !== null && said.tone === 'free';
  const own = all.map((each) => ({ exemption: each, repository }));
  const forms = (isHeld: boolean) =>
    exemptionForms(repository, seen, isInside ? all : [], standing, asked, times, isHeld);
  const known = { exemptions: isInside ? all : [], events: history?.events ?? [], statuses };
  const body = html`${saidMessage(context, undoApproval(visit, own), stillApproved(context, own))}
    ${head(deps, repository, seen)}
    ${answer(repository, seen, said, isExempt ? granted : null, times, onGitHub(deps, repository, seen.number))}
    ${freezesAreOn(repository.products) ? '' : switchedOff(fullName(repository))}
    ${seen.live ? '' : notLive(seen.limitedUntil, times)}
    ${refused ? formProblem(refused.problems, refused.form.has('hours') ? ['reason'] : []) : ''}
    <div class="columns">
      <div>
        ${through(repository, seen, ways, forms)}
        ${shownOnce && !isExempt ? exemptionNotice(shownOnce, times) : ''}
        ${shown.isFinal && isOpenPullRequest(shown) ? finalNotice : ''}
        ${details(deps, repository, seen, times)}
      </div>
      <aside>
        ${timeline(seen, known, times)}
        ${
          history && history.events.length > 0
            ? html`<details class="fold">
                <summary><h2>History</h2></summary>
                ${eventList(history.events, times, repository.account)}
              </details>`
            : ''
        }
        ${statusesTable(shown.headSha, statuses, times)}
      </aside>
    </div>`;
  const page = layoutOf(visit, `${fullName(repository)} #${shown.number}`, `#${shown.number}`, body, {
    frozen: said.tone === 'held' ? said.word : null,
    ...(!refused && {
      live: liveAt(visit, repositoryLivePath(repository), [String(shown.number), shown.headSha]),
    }),
  });
  return context.html(page, refused ? 422 : 200);
}

/** The layout of a page of a repository. @param name its last breadcrumb. */
export const layoutOf = (
  visit: RepositoryVisit,
  title: string,
  name: string,
  body: Html,
  state: Pick<LayoutPage, 'frozen' | 'live'>,
): Html =>
  layout({
    ...state,
    title,
    body,
    viewer: visit.viewer,
    owner: visit.repository.account.login,
    crumbs: [{ name: visit.repository.name, href: repositoryPath(visit.repository) }, { name }],
    zone: readerTimes(visit).zone,
  });

/** The pull request of the path. */
export function numberOf({ context }: Pick<RepositoryVisit, 'context'>): bigint | null {
  const { data } = params.pullRequestNumber.safeParse(context.req.param('number'));
  return data !== undefined && data <= greatestNumber ? data : null;
}

/** How long the page shows an exemption after its end, in milliseconds. */
const shownFor = 7 * 86_400_000;

/** How many events are shown. The audit log of the repository has the rest. */
const mostPullRequestEvents = 25;

const onGitHub = ({ config }: PageDeps, repository: FoundRepository, number: number): string =>
  `${webUrlOf(config.githubApiUrl)}/${fullName(repository)}/pull/${number}`;

function head(deps: PageDeps, repository: FoundRepository, { number, live }: ShownPullRequest): Html {
  const { 'added-lines': added, 'deleted-lines': deleted, base } = live?.pullRequest.facts.values ?? {};
  return html`<div class="about muted">
      <a href="${onGitHub(deps, repository, number)}">#${number} on GitHub</a>
      ${live ? written(live.pullRequest.author, Number(added), Number(deleted), String(base)) : ''}
    </div>
    <h1 dir="auto">${live ? live.pullRequest.title : `Pull request #${number}`}</h1>`;
}

/**
 * What a person can do about what holds the pull request. First of all: request an exemption.
 * @param ways what else lets it through. @param forms the requests and forms of exemptions. They stand alone where none would let it through.
 */
function through(
  repository: FoundRepository,
  shown: ShownPullRequest,
  ways: (held: ShownFreeze[], isAlone: boolean) => Html,
  forms: (isHeld: boolean) => Html,
): Html {
  const { holding: held, live } = shown;
  const elsewhere = live?.sharedHolds ?? [];
  const isHeld = held.length > 0 && !isNotBlocked(shown.notHeld);
  if (!isOpenPullRequest(shown) || !(isHeld || elsewhere.length > 0)) return forms(false);
  return html`<section class="card" aria-labelledby="through">
    <h2 class="first" id="through">How to get through</h2>
    ${forms(isHeld)} ${isHeld ? ways(held, elsewhere.length === 0) : ''}
    ${elsewhere.length > 0 ? html`<p>The other pull requests that block it must be free too, or each have its own exemption.</p>` : ''}
    ${closeThese(repository, elsewhere)}
  </section>`;
}

/** Anybody can open a pull request with the commit of another one, also from a fork, so that is a way out. */
function closeThese(
  repository: FoundRepository,
  elsewhere: { pullRequest: number; isBelow?: boolean }[],
): Html {
  const same = [...new Set(elsewhere.flatMap((hold) => (hold.isBelow ? [] : hold.pullRequest)))];
  if (same.length === 0) return html``;
  const links = same.map(
    (number, index) =>
      html`${index > 0 ? ', ' : ''}<a href="${pullRequestPath(repository, number)}">#${number}</a>`,
  );
  return html`<p>Or close ${links} on GitHub: only open pull requests with the same commit block it.</p>`;
}

function details(
  { config }: PageDeps,
  repository: FoundRepository,
  shown: ShownPullRequest,
  times: Times,
): Html {
  const { live, isFinal } = shown;
  const place = { publicUrl: config.publicUrl, repository, times };
  const [held, passed] = isOpenPullRequest(shown) ? [shown.holding, live?.passing ?? []] : [[], []];
  return html`${live ? aboutGitHub(live, isFinal, times) : ''}
  ${
    held.length > 0
      ? html`<h2 id="holding">What blocks it</h2>
          ${held.length > 1 ? html`<p>The pull request can merge when none of these freezes blocks it.</p>` : ''}
          ${cards(held, place, holding)}`
      : ''
  }
  ${live ? otherHolds(repository, live.sharedHolds) : ''}
  ${group(
    'Freezes that it is exempt from',
    passed.filter(({ pass }) => pass),
    place,
  )}
  ${group(
    'Other ongoing freezes',
    passed.filter(({ pass }) => !pass),
    place,
  )}`;
}

const group = (name: string, freezes: ShownFreeze[], place: Parameters<typeof cards>[1]): Html | '' =>
  freezes.length === 0
    ? ''
    : html`<h2>${name}</h2>
        ${cards(freezes, place, passing)}`;

/** Freezes stay stored, but hold nothing. */
const switchedOff = (name: string): Html =>
  html`<p class="notice">
    Freezes are switched off for ${name}: neither <code>merge_protections</code> nor
    <code>merge_queue</code> is enabled. An admin can switch them on with
    <code>PUT /v1/products/${name}</code>.
  </p>`;

/** Unlike a freeze, this state does not end. */
const finalNotice = html`<p class="notice">
  GitHub accepts at most 1,000 statuses on a commit, and this commit has nearly all of them. It stays blocked
  even without a freeze. Push a new commit to unblock the pull request.
</p>`;

/** @param limitedUntil when GitHub answers again, if its rate limit is used up. */
const notLive = (limitedUntil: Date | null, times: Times): Html =>
  limitedUntil
    ? html`<div class="card" role="status">
        <p>GitHub’s rate limit is used up, so this page shows what Holdfast last knew.</p>
        ${waysWithoutGitHub(limitedUntil, times)}
      </div>`
    : html`<p class="card" role="status">
        GitHub is not available, so this page shows what Holdfast last knew. Reload the page in a minute to
        see the conditions and their values.
      </p>`;

/** Says if GitHub does not show the current verdict yet, and when time alone may change it. */
function aboutGitHub(
  { pullRequest, status, nextChangeAt }: NonNullable<ShownPullRequest['live']>,
  isFinal: boolean,
  times: Times,
): Html {
  const isBehind = !isFinal && status && pullRequest.status?.state !== status.state;
  return html`${
    isBehind
      ? html`<p>
          GitHub still shows <code>${pullRequest.status?.state ?? 'no status'}</code>. Holdfast is about to
          write <code>${status.state}</code>.
        </p>`
      : ''
  }
  ${nextChangeAt ? html`<p>This may change on ${instantText(nextChangeAt, times)}.</p>` : ''}`;
}
