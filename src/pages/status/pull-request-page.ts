import { html } from 'hono/html';
import * as params from '../../api/fields.ts';
import { nowOf } from '../../time/clock.ts';
import { type ListedEvent, recentEvents } from '../../events/list-events.ts';
import { type ExemptionRecord, exemptionsSince } from '../../freezes/exemptions/exemption-store.ts';
import { coversFreeze } from '../../freezes/exemptions/exemption.ts';
import type { asPublic, Freeze } from '../../freezes/freeze.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import { greatestNumber } from '../../github/pull-requests/pull-request.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { readSettings } from '../../installations/settings.ts';
import type { Hold } from '../../statuses/status.ts';
import { statusOn, writtenStatuses } from '../../statuses/write-store.ts';
import { pullRequestPath, repositoryPath } from '../../installations/page-paths.ts';
import { hidingAmong } from '../../statuses/judge.ts';
import { eventList } from '../audit/event-list.ts';
import { type FormProblems, formProblem } from '../form.ts';
import { instant, type Times } from '../text.ts';
import { type Html, layout } from '../layout.ts';
import {
  absentPage,
  isInsider,
  type PageDeps,
  permissionOf,
  reading,
  type RepositoryVisit,
  silentPage,
  timesOf,
} from '../reader.ts';
import { exemptionForms, exemptionNotice, isOn, shownExemption, standingIn } from './exemption-forms.ts';
import {
  holdingCards,
  passingCards,
  reasons,
  type ShownFreeze,
  statusesTable,
  waysThrough,
} from './freeze-card.ts';
import { answer, isOpen, type ShownPullRequest, showablePullRequest, verdict } from './shown-pull-request.ts';

/** A form of the page that was refused, and why. */
export type RefusedForm = { form: URLSearchParams; problems: FormProblems };

/**
 * The page that a pull request's status links to: whether it is held, until when, why, and how it gets through. People
 * who can write to the repository get the exemption forms. `?exempt` opens the one that requests an exemption.
 * @param refused the form to show again with its errors; the status is 422.
 */
export async function pullRequestPage(
  visit: RepositoryVisit,
  refused: RefusedForm | null = null,
): Promise<Response> {
  const { deps, context, viewer, repository } = visit;
  const number = numberOf(visit);
  const shown = number === null ? 'absent' : await showablePullRequest(deps, repository, number);
  if (shown === 'absent') return absentPage(visit);
  if (shown === 'silent') return silentPage(visit);
  const times = timesOf(visit);
  const { now } = times;
  const isInside = await isInsider(visit);
  const permission = await permissionOf(visit);
  const since = new Date(now.getTime() - shownFor);
  const [statuses, status, all, settings, history] = await Promise.all([
    writtenStatuses(deps.db, repository.id, shown.headSha),
    statusOn(deps.db, repository.id, shown.headSha),
    exemptionsSince(deps.db, repository.id, shown.number, since),
    readSettings(deps.db, repository.id),
    isInside
      ? recentEvents(deps, repository, { pullRequest: [String(shown.number)] }, { perPage: mostEvents })
      : null,
  ]);
  const isFinal = status?.isFinal ?? false;
  const exemption = await hideReason(deps, repository, shownExemption(all, now));
  const secrets = [...freezesOf(shown), ...(exemption ? [exemption] : [])];
  const read = await reading(visit, secrets);
  const standing = await standingIn(visit, permission, settings);
  const seen = readAs(read, shown);
  const asked = { isAsked: context.req.query('exempt') !== undefined, refused };
  const known = exemption && read(exemption);
  const granted = known && isOn(known, now) ? known : null;
  const said = verdict(seen, isOpen(seen), granted, times);
  const isExempt = granted !== null && said.tone === 'free';
  const body = html`${head(deps, repository, seen)}
  ${answer(repository, seen, said, isExempt ? granted : null, times)}
  ${freezesAreOn(repository.products) ? '' : switchedOff(fullName(repository))} ${seen.live ? '' : notLive}
  ${refused ? formProblem(refused.problems, refused.form.has('hours') ? ['reason'] : []) : ''}
  ${through(repository, seen, (isHeld) => exemptionForms(repository, shown, isInside ? all : [], standing, asked, times, isHeld), times)}
  ${known && !isExempt ? exemptionNotice(known, times) : ''} ${isFinal && isOpen(shown) ? finalNotice : ''}
  ${details(deps, repository, seen, isFinal, times)}
  ${history ? historyOf(history.events, times, repository) : ''}
  ${statusesTable(shown.headSha, statuses, times)}`;
  const page = layout({
    title: `${fullName(repository)} #${shown.number}`,
    body,
    viewer,
    owner: repository.account.login,
    crumbs: [{ name: repository.name, href: repositoryPath(repository) }, { name: `#${shown.number}` }],
    zone: times.zone,
  });
  return context.html(page, refused ? 422 : 200);
}

/** The pull request of the path. */
export function numberOf({ context }: Pick<RepositoryVisit, 'context'>): bigint | null {
  const { data } = params.number.safeParse(context.req.param('number'));
  return data !== undefined && data <= greatestNumber ? data : null;
}

/** How long the page shows an exemption after its end, in milliseconds. */
const shownFor = 7 * 86_400_000;

/** Hides the reason of an exemption without a public reason if it covers a freeze that has one. */
async function hideReason(
  deps: PageDeps,
  repository: FoundRepository,
  found: ExemptionRecord | null,
): Promise<ExemptionRecord | null> {
  if (!found || found.publicReason !== null) return found;
  const hiding = hidingAmong(await listFreezes(deps.sql, repository, nowOf(deps.clock)));
  const isHidden = hiding.some((id) => coversFreeze(found, id));
  return { ...found, publicReason: isHidden ? '' : null };
}

const freezesOf = ({ holding, live }: ShownPullRequest): Freeze[] =>
  [...holding, ...(live?.passing ?? []), ...(live?.sharedHolds ?? [])].map(({ freeze }) => freeze);

function readAs(read: typeof asPublic, { holding, live, ...rest }: ShownPullRequest): ShownPullRequest {
  const each = <F extends { freeze: Freeze }>(all: F[]) =>
    all.map((one) => ({ ...one, freeze: read(one.freeze) }));
  return {
    ...rest,
    holding: each(holding),
    live: live && { ...live, passing: each(live.passing), sharedHolds: each(live.sharedHolds) },
  };
}

function head({ config }: PageDeps, repository: FoundRepository, { number, live }: ShownPullRequest): Html {
  const name = fullName(repository);
  return html`<p class="muted">
      <a href="${webUrlOf(config.githubApiUrl)}/${name}/pull/${number}">#${number} on GitHub</a>
    </p>
    <h1 dir="auto">${live ? live.pullRequest.title : `Pull request #${number}`}</h1>`;
}

/**
 * What a person can do about what holds the pull request. First of all: request an exemption.
 * @param forms the requests and forms of exemptions. They stand alone where none would let it through.
 */
function through(
  repository: FoundRepository,
  shown: ShownPullRequest,
  forms: (isHeld: boolean) => Html,
  times: Times,
): Html {
  const { holding, live } = shown;
  const isElsewhere = (live?.sharedHolds.length ?? 0) > 0;
  if (!isOpen(shown) || (holding.length === 0 && !isElsewhere)) return forms(false);
  return html`<section class="card" aria-labelledby="through">
    <h2 class="first" id="through">How to get through</h2>
    ${forms(holding.length > 0)} ${holding.length > 0 ? waysThrough(holding, repository, times) : ''}
    ${isElsewhere ? html`<p>The other pull requests that block it must be free too, or each have its own exemption.</p>` : ''}
  </section>`;
}

function details(
  { config }: PageDeps,
  repository: FoundRepository,
  shown: ShownPullRequest,
  isFinal: boolean,
  times: Times,
): Html {
  const { holding, live } = shown;
  const place = { publicUrl: config.publicUrl, repository, times };
  const passing: ShownFreeze[] = live?.passing ?? [];
  return html`${live ? aboutGitHub(live, isFinal, times) : ''}
  ${
    isOpen(shown) && holding.length > 0
      ? html`<h2 id="holding">What blocks it</h2>
          ${holding.length > 1 ? html`<p>The pull request can merge when none of these freezes blocks it.</p>` : ''}
          ${holdingCards(holding, place)}`
      : ''
  }
  ${live ? otherHolds(repository, live.sharedHolds) : ''}
  ${
    isOpen(shown) && passing.length > 0
      ? html`<h2>Other ongoing freezes</h2>
          ${passingCards(passing, place)}`
      : ''
  }`;
}

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

const notLive = html`<p class="card" role="status">
  GitHub is not available, so this page shows what Holdfast last knew. Reload the page in a minute to see the
  conditions and their values.
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
  ${nextChangeAt ? html`<p>This may change on ${instant(nextChangeAt, times)}.</p>` : ''}`;
}

/**
 * What blocks it through other pull requests. GitHub keeps one status per commit, which several may share, and merges
 * what is below it in its stack with it.
 */
function otherHolds(repository: FoundRepository, holds: Hold[]): Html {
  const [below, sharing] = [holds.filter((hold) => hold.isBelow), holds.filter((hold) => !hold.isBelow)];
  return html`${
    below.length === 0
      ? ''
      : holdsOf(
          repository,
          below,
          html`<h2>What blocks its stack</h2>
            <p>To merge it, GitHub merges the pull requests below it in its stack:</p>`,
        )
  }
  ${
    sharing.length === 0
      ? ''
      : holdsOf(
          repository,
          sharing,
          html`<h2>What blocks its commit</h2>
            <p>GitHub keeps one status for each commit, and other pull requests have the same commit:</p>`,
        )
  }`;
}

function holdsOf(repository: FoundRepository, holds: Hold[], heading: Html): Html {
  const byNumber = Map.groupBy(holds, ({ pullRequest }) => pullRequest);
  return html`${heading}
    <ul>
      ${[...byNumber].map(
        ([number, each]) =>
          html`<li>
            <a href="${pullRequestPath(repository, number)}">#${number}</a> is frozen by
            ${reasons(each.map(({ freeze }) => freeze))}.
          </li>`,
      )}
    </ul>`;
}

/** How many events are shown. The audit log of the repository has the rest. */
const mostEvents = 25;

const historyOf = (events: ListedEvent[], times: Times, { account }: FoundRepository): Html =>
  events.length === 0
    ? html``
    : html`<details class="fold">
        <summary><h2>History</h2></summary>
        ${eventList(events, times, account)}
      </details>`;
