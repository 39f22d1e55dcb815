import type { Context } from 'hono';
import { html } from 'hono/html';
import * as params from '../../api/path-params.ts';
import { nowOf } from '../../clock.ts';
import { isTooManyRequests, Refusal } from '../../errors.ts';
import type { PullRequestExplanation } from '../../explanations/explain-pull-request.ts';
import { greatestNumber } from '../../github/greatest-number.ts';
import { recallPullRequest } from '../../explanations/recall-pull-request.ts';
import { type ExemptionRecord, exemptionsSince } from '../../exemptions/exemption-store.ts';
import type { asPublic, Freeze } from '../../freezes/freeze.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import type { Hold } from '../../outbox/status.ts';
import { heldPullRequests, type ReasonNotHeld } from '../../reconcile/held-pull-requests.ts';
import { coversFreeze } from '../../exemptions/judge-exemption.ts';
import { hidingAmong } from '../../reconcile/judge.ts';
import { isFinalOn, writtenStatuses, type WrittenStatus } from '../../outbox/written-statuses.ts';
import { webUrlOf } from '../../github/web-url.ts';
import { freezesAreOn } from '../../installations/product.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { instant } from '../instant.ts';
import { whyNot } from '../held.ts';
import { type Html, layout } from '../layout.ts';
import { pullRequestPath, repositoryPath } from '../../page-paths.ts';
import { absentPage, openRepositoryPage, type PageDeps, silentPage } from '../reader.ts';
import { reading } from '../repository/insiders.ts';
import { exemptionNotice, shownExemption } from './exemption-notice.ts';
import { holdingCard, passingCard, reasons, type ShownFreeze } from './freeze-card.ts';
import { statusesTable } from './statuses-table.ts';

/** What is shown of a pull request. What only GitHub knows is null where it could not be asked. */
type Shown = {
  number: number;
  headSha: string;
  /** Whether its last status was written, which stays. */
  isFinal: boolean;
  holding: ShownFreeze[];
  /** The exemption that it has, or had last. */
  exemption: ExemptionRecord | null;
  /** Where freezes hold it: why that is not known to be so. */
  notHeld: ReasonNotHeld | null;
  live:
    | (Pick<PullRequestExplanation, 'pullRequest' | 'status' | 'nextChangeAt'> & {
        passing: ShownFreeze[];
        sharedHolds: Hold[];
      })
    | null;
};

/** The page that a pull request's status leads to: held or not, why, until when, and what would let it go. */
export async function pullRequestPage(deps: PageDeps, context: Context): Promise<Response> {
  const opened = await openRepositoryPage(deps, context);
  if (opened instanceof Response) return opened;
  const { repository, viewer } = opened;
  const number = params.number.safeParse(context.req.param('number'));
  const isPossible = number.success && number.data <= greatestNumber;
  const shown = isPossible ? await look(deps, repository, number.data) : 'absent';
  if (shown === 'absent') return absentPage(deps, context, viewer);
  if (shown === 'silent') return silentPage(context, viewer);
  const statuses = await writtenStatuses(deps.db, repository.id, shown.headSha);
  const isFinal = await isFinalOn(deps.db, repository.id, shown.headSha);
  const title = `${fullName(repository)} #${shown.number}`;
  const exemption = await findShownExemption(deps, repository, shown.number);
  const secrets = [...freezesOf(shown), ...(exemption ? [exemption] : [])];
  const read = await reading(deps, repository, viewer, secrets);
  const all = readAs(read, { ...shown, isFinal, exemption });
  return context.html(layout({ title, body: body(deps, repository, all, statuses), viewer }));
}

/** So long after its end an exemption is still told of. Milliseconds. */
const toldFor = 7 * 86_400_000;

/** With an empty public reason where a freeze that it covers has one and it has none. */
async function findShownExemption(
  deps: PageDeps,
  repository: FoundRepository,
  number: number,
): Promise<ExemptionRecord | null> {
  const now = nowOf(deps.clock);
  const since = new Date(now.getTime() - toldFor);
  const found = shownExemption(await exemptionsSince(deps.db, repository.id, number, since), now);
  if (!found || found.publicReason !== null) return found;
  const hiding = hidingAmong(await listFreezes(deps, repository));
  const isHidden = hiding.some((id) => coversFreeze(found, id));
  return { ...found, publicReason: isHidden ? '' : null };
}

const freezesOf = ({ holding, live }: Pick<Shown, 'holding' | 'live'>): Freeze[] =>
  [...holding, ...(live?.passing ?? []), ...(live?.sharedHolds ?? [])].map(({ freeze }) => freeze);

function readAs(read: typeof asPublic, { holding, live, exemption, ...rest }: Shown): Shown {
  const each = <F extends { freeze: Freeze }>(all: F[]) =>
    all.map((one) => ({ ...one, freeze: read(one.freeze) }));
  return {
    ...rest,
    holding: each(holding),
    exemption: exemption && read(exemption),
    live: live && { ...live, passing: each(live.passing), sharedHolds: each(live.sharedHolds) },
  };
}

/** As GitHub says it now; else as it was last seen. */
async function look(
  deps: PageDeps,
  repository: FoundRepository,
  number: bigint,
): Promise<Omit<Shown, 'isFinal' | 'exemption'> | 'absent' | 'silent'> {
  try {
    const { freezes, ...live } = await deps.explanations.get(deps, repository, number);
    const { headSha } = live.pullRequest.facts;
    const isHolding = ({ verdict, pass }: ShownFreeze) =>
      !pass && (verdict === 'frozen' || verdict === 'unknown');
    const passing = freezes.filter((each) => !isHolding(each));
    return {
      number: Number(number),
      headSha,
      holding: freezes.filter(isHolding),
      notHeld: await whyNotHeld(deps, repository, Number(number), live.pullRequest.status?.state ?? null),
      live: { ...live, passing },
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === 'not-found') return 'absent';
    const recalled = await recallPullRequest(deps, repository, Number(number));
    // While the installation is suspended nobody will ever say more.
    if (!recalled && isTooManyRequests(error)) throw error;
    if (!recalled) return error.code === 'unavailable' ? 'silent' : 'absent';
    const holding = recalled.heldBy.map((freeze) => ({ freeze }));
    const notHeld = await whyNotHeld(deps, repository, Number(number));
    return { number: Number(number), headSha: recalled.headSha, holding, notHeld, live: null };
  }
}

/** @param shown what GitHub showed just now, where it was asked: it may show less than we wrote. */
async function whyNotHeld(
  deps: PageDeps,
  repository: FoundRepository,
  number: number,
  shown?: string | null,
): Promise<ReasonNotHeld | null> {
  const [held] = await heldPullRequests(deps, repository.id, number);
  const isShown = shown === undefined || (shown !== null && shown !== 'success');
  return held?.notHeld ?? (isShown ? null : 'waiting');
}

function body(
  { config, clock }: PageDeps,
  repository: FoundRepository,
  { number, headSha, isFinal, holding, exemption, notHeld, live }: Shown,
  statuses: WrittenStatus[],
): Html {
  const name = fullName(repository);
  const place = { publicUrl: config.publicUrl, fullName: name };
  const isOpen = live?.pullRequest.isOpen ?? true;
  const isHeld = isOpen && (holding.length > 0 || (live?.sharedHolds.length ?? 0) > 0);
  return html`<p class="muted">
      <a href="${repositoryPath(repository)}">${name}</a>,
      <a href="${webUrlOf(config.githubApiUrl)}/${name}/pull/${number}">#${number} on GitHub</a>
    </p>
    <h1>${live ? live.pullRequest.title : `Pull request #${number}`}</h1>
    <p>${verdict(isOpen, isHeld, holding.length, notHeld)}</p>
    ${exemption ? exemptionNotice(exemption, nowOf(clock)) : ''}
    ${freezesAreOn(repository.products) ? '' : switchedOff(name)} ${isOpen && isFinal ? finalNotice : ''}
    ${live ? aboutGitHub(live, isFinal) : notLive}
    ${
      isOpen && holding.length > 0
        ? html`<h2>What holds it</h2>
            ${holding.length > 1 ? html`<p>Each of them has to let go before it can merge.</p>` : ''}
            ${holding.map((each) => holdingCard(each, place))}`
        : ''
    }
    ${live && live.sharedHolds.length > 0 ? sharing(repository, live.sharedHolds) : ''}
    ${
      isOpen && live && live.passing.length > 0
        ? html`<h2>What else is on, and lets it go</h2>
            ${live.passing.map(passingCard)}`
        : ''
    }
    ${statusesTable(headSha, statuses)}`;
}

function verdict(isOpen: boolean, isHeld: boolean, freezes: number, notHeld: ReasonNotHeld | null): Html {
  if (!isOpen) return html`<span class="badge">Closed</span> Freezes hold open pull requests only.`;
  if (!isHeld) return html`<span class="badge free">Free</span> No freeze holds this pull request.`;
  const by =
    freezes > 1
      ? `${freezes} freezes hold`
      : freezes === 1
        ? 'A freeze holds'
        : 'Its commit is held, and so is';
  if (notHeld === 'leaking')
    return html`<span class="badge leaking">Not held</span> ${by} this pull request, but GitHub would merge
      it: its base branch does not require our status, or takes it from others. An admin finds out why with
      <code>holdfast doctor</code>.`;
  if (notHeld)
    return html`<span class="badge held">To be held</span> ${by} this pull request, but ${whyNot[notHeld]}.`;
  return html`<span class="badge held">Held</span> ${by} this pull request.`;
}

/** Freezes are kept then, and hold nothing. */
const switchedOff = (name: string): Html =>
  html`<p class="notice">
    Freezes are switched off for ${name}: neither <code>merge_protections</code> nor
    <code>merge_queue</code> is enabled. An admin switches them on with <code>PUT /v1/products/${name}</code>.
  </p>`;

/** Freezes end; this does not. */
const finalNotice = html`<p class="notice">
  GitHub takes at most 1,000 statuses on a commit, and this one has had nearly all of them. It stays blocked,
  also without a freeze. Push a new commit: it is judged anew.
</p>`;

const notLive = html`<p class="card" role="status">
  GitHub could not be asked, so this is what Holdfast knew when it last looked. Load the page again in a
  minute for the conditions and what they saw.
</p>`;

/** Where GitHub does not show yet what is decided; and when the clock alone may decide anew. */
function aboutGitHub(
  { pullRequest, status, nextChangeAt }: NonNullable<Shown['live']>,
  isFinal: boolean,
): Html {
  const isBehind = !isFinal && status && pullRequest.status?.state !== status.state;
  return html`${
    isBehind
      ? html`<p>
          GitHub shows <code>${pullRequest.status?.state ?? 'no status'}</code> still;
          <code>${status.state}</code> is on its way.
        </p>`
      : ''
  }
  ${nextChangeAt ? html`<p>The time alone may change this at ${instant(nextChangeAt, 'UTC')}.</p>` : ''}`;
}

/** GitHub keeps one status a commit, whichever pull request it is for. */
function sharing(repository: FoundRepository, holds: Hold[]): Html {
  const byNumber = Map.groupBy(holds, ({ pullRequest }) => pullRequest);
  return html`<h2>What holds its commit</h2>
    <p>GitHub keeps one status for a commit, and other pull requests have the same one:</p>
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
