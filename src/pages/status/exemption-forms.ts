import { html } from 'hono/html';
import { signInSettings } from '../../auth/sign-in/github-identity.ts';
import { holderText } from '../../settings/role-holders.ts';
import type { RoleHolder, SettingValues } from '../../installations/setting-fields.ts';
import type { RepositoryPermission } from '../../auth/permissions.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { deploymentExemptionsPath, deploymentsPath, pullRequestPath, signInPath } from '../../page-paths.ts';
import { chips, confirmation, hiddenField, noProblems, onceField, textArea, textField } from '../form.ts';
import { instantText, longText, quotedLast, type Times } from '../text.ts';
import { actorName, type Actor } from '../../events/actor.ts';
import type { Html } from '../html.ts';
import { badge } from '../states.ts';
import { mayAs, type RepositoryVisit, type Viewer } from '../reader.ts';
import type { ShownPullRequest } from './shown-pull-request.ts';
import type { RequestPlace } from './request-card.ts';
import type { RefusedRequest } from './status-pages.ts';
import type { EndedBy } from '../../exemptions/exemption.ts';

export type Standing = {
  viewer: Viewer;
  /** The viewer's permission for the repository. */
  permission: RepositoryPermission | 'unknown';
  /** Whether they may decide on exemptions: as an admin or an approver. */
  mayDecide: boolean;
  /** Who has the role to decide beside admins, as people write them. */
  approvers: string[];
  /** Whether exemptions there take two people. */
  isForTwo: boolean;
  /** Whether people can sign in. */
  maySignIn: boolean;
};

/** What the viewer may do about the exemptions of a repository, and who ends freezes there, after "an". */
export async function standingIn(
  visit: RepositoryVisit,
  permission: Standing['permission'],
  { approvers, freezers, twoPersonExemptions: isForTwo }: SettingValues,
): Promise<Standing & { ender: string }> {
  const { deps, repository, viewer } = visit;
  const texts = (holders: RoleHolder[]) => holders.map((each) => holderText(each, repository.account.login));
  return {
    ...{ viewer, permission, isForTwo, mayDecide: await mayAs(visit, 'approver') },
    approvers: texts(approvers),
    ender: adminOr(fullName(repository), 'a freezer', texts(freezers), viewer),
    maySignIn: signInSettings(deps.config) !== null,
  };
}

/** The form that requests an exemption: whether the URL asks for it, and what was refused, if anything. */
type AskedForm = { isAsked: boolean; refused: RefusedRequest | null };

/** How long an exemption may last, in hours. */
export const exemptionDurations = { '1': '1 hour', '4': '4 hours', '24': '24 hours', '168': '7 days' };

/**
 * The exemption requests of a pull request that wait for a decision, the forms that the viewer may send, and who decides.
 * @param all its exemptions, newest request first, as far as the viewer may see them.
 * @param isHeld whether an exemption would let it through.
 */
export function exemptionForms(
  repository: FoundRepository,
  shown: ShownPullRequest,
  all: ExemptionRecord[],
  standing: Standing,
  asked: AskedForm,
  times: Times,
  isHeld: boolean,
): Html {
  const { number, headSha, live } = shown;
  const of = (state: ExemptionRecord['state']) =>
    all.filter((each) => each.state === state && each.expiresAt > times.now);
  const requested = of('requested');
  const page = pullRequestPath(repository, number);
  const path = `${page}/exemptions`;
  const { viewer, permission, mayDecide, maySignIn } = standing;
  const isOpen = live?.pullRequest.isOpen ?? true;
  const maySend = permission === 'admin' || permission === 'write';
  const approved = maySend || mayDecide ? of('approved').filter((each) => mayTakeBack(each, standing)) : [];
  const buttons = approved.map((each) => takeBack(each, path));
  // One request at a time is decided on.
  if (maySend && isOpen && requested.length === 0)
    buttons.push(askForm(path, headSha, standing, asked, isHeld));
  if (isHeld && !viewer && maySignIn)
    buttons.push(html`<a class="button" href="${signInPath(`${page}?exempt=yes`)}">Request exemption</a>`);
  return html`${requested.map((each) => exemptionRequest(each, repository, standing, times))}
  ${all[0]?.state === 'denied' ? deniedNotice(all[0], times) : ''}
  ${buttons.length > 0 ? html`<div class="actions">${buttons}</div>` : ''}
  ${isHeld && requested.length === 0 ? html`<p>${whoApproves(fullName(repository), standing)}</p>` : ''}`;
}

/** Who requests an exemption, and who approves it. */
function whoApproves(name: string, standing: Standing): string {
  const { viewer, permission, isForTwo, maySignIn } = standing;
  const two = isForTwo ? ' This repository requires two people.' : '';
  if (permission === 'unknown')
    return 'GitHub does not say whether you can request an exemption. Reload the page in a moment.';
  if (permission === 'admin' && !isForTwo)
    return `You are an admin of ${name}, so your exemption counts at once.`;
  if (permission === 'admin') return `Another ${decider(name, standing)} approves the exemption.${two}`;
  if (permission === 'write') return `An ${decider(name, standing)} approves the exemption.`;
  const others = `People who can write to ${name} request an exemption, and an ${decider(null, standing)} approves it.${two}`;
  if (viewer) return `${others} You cannot write to it, so ask one of them.`;
  return maySignIn ? others : `${others} Ask one of them: nobody can sign in here yet.`;
}

/** Who decides, after "an". */
const decider = (name: string | null, { approvers, viewer }: Standing): string =>
  adminOr(name, 'an approver', approvers, viewer);

/** An admin, or somebody with a role. People who are signed in learn who has it. @param holders who has it. */
function adminOr(name: string | null, role: string, holders: string[], viewer: Viewer): string {
  const admin = name === null ? 'admin' : `admin of ${name}`;
  if (holders.length === 0) return admin;
  if (!viewer) return `${admin} or ${role}`;
  // Nobody asks themselves.
  const others = holders.filter((each) => each.toLowerCase() !== viewer.login.toLowerCase());
  return others.length > 0 ? `${admin} or ${role} (${others.join(', ')})` : admin;
}

/** What an exemption is of, in words: `acme/web #5`, `acme/web to production`. */
export const nameOfExemption = (repository: string, number: number, environment?: string | null): string =>
  `${repository} ${environment ? `to ${environment}` : `#${number}`}`;

/** The same, with a link to the page that shows it. */
export const exemptionLink = ({ deployment, pullRequest }: ExemptionRecord, repository: RequestPlace): Html =>
  html`<a href="${deployment ? deploymentsPath(repository) : pullRequestPath(repository, pullRequest)}"
    ><bdi>${nameOfExemption(fullName(repository), pullRequest, deployment?.environment)}</bdi></a
  >`;

/** Which commits or run an exemption is for. Follows "for". */
export const coverage = ({ anyHead, headSha, deployment }: ExemptionRecord): Html =>
  deployment
    ? html`${deployment.sha ? html`one run of commit <code>${headSha.slice(0, 7)}</code>` : `run ${deployment.runId}`}
        to <bdi>${deployment.environment}</bdi>`
    : anyHead
      ? html`all commits`
      : html`commit <code>${headSha.slice(0, 7)}</code> only`;

/** Where the forms about an exemption go. */
export const formsPath = ({ deployment, pullRequest }: ExemptionRecord, repository: RequestPlace): string =>
  deployment
    ? deploymentExemptionsPath(repository)
    : `${pullRequestPath(repository, pullRequest)}/exemptions`;

type RequestParts = { sent?: Html; about?: Html; isListed?: boolean; box?: Html | '' };

/**
 * A request: who asks, why and for how long, and where it stands. Admins get the forms to decide.
 * @param sent hidden fields of the forms. @param about what the pull request is. @param isListed among others, so that it
 * says whose it is, and is no landmark: a list would have many of one name. @param box to choose it among them.
 */
export function exemptionRequest(
  exemption: ExemptionRecord,
  repository: RequestPlace,
  standing: Standing,
  times: Times,
  { sent = html``, about = html``, isListed = false, box = '' }: RequestParts = {},
): Html {
  const path = formsPath(exemption, repository);
  const { id, requestedBy, requestedAt, announcedAt, reason, expiresAt } = exemption;
  const { mayDecide, isForTwo } = standing;
  const isSecondMissing = isForTwo && isOwn(exemption, standing);
  return html`<section class="card request" ${isListed ? '' : html`aria-label="Exemption request"`}>
    ${isListed ? html`<h3>${box} ${exemptionLink(exemption, repository)}</h3>` : ''} ${about}
    <p>
      ${badge('waiting', 'Requested')} <strong>${actorName(requestedBy)}</strong> requests an exemption until
      ${instantText(expiresAt, times)}, for ${coverage(exemption)}:
    </p>
    <div>${longText(reason)}</div>
    <p class="muted">
      Requested ${instantText(requestedAt, times)}.
      ${mayDecide && !isSecondMissing ? '' : waitsFor(fullName(repository), standing, isSecondMissing)}
      ${announcedAt ? html`Holdfast commented on the pull request ${instantText(announcedAt, times)}.` : mayDecide && !isSecondMissing ? '' : 'Holdfast sends no mail, so tell one of them.'}
    </p>
    ${
      mayDecide || isOwn(exemption, standing)
        ? html`<div class="actions">
            ${mayDecide && !isSecondMissing ? html`<form method="post" action="${path}/${id}/approve">${sent}<button type="submit">Approve</button></form>` : ''}
            ${mayDecide ? confirmation('Deny…', `${path}/${id}/deny`, html`${sent} ${why(id)}`, 'Deny request') : ''}
            ${isOwn(exemption, standing) ? takeBack(exemption, path, sent) : ''}
          </div>`
        : ''
    }
  </section>`;
}

/** Who the reader waits for. */
const waitsFor = (name: string, standing: Standing, isSecondMissing: boolean): string =>
  isSecondMissing
    ? `This repository requires two people: another ${decider(null, standing)} must approve the request. They see it on their first page here.`
    : `It waits until an ${decider(name, standing)} approves it. They see it on their first page here.`;

/** Whether an exemption of theirs counts without a decision. */
export const isAtOnce = ({ permission, isForTwo }: Pick<Standing, 'permission' | 'isForTwo'>): boolean =>
  permission === 'admin' && !isForTwo;

/** Whether the reader decides on a request: their own too, unless the repository requires two people. */
export const mayApprove = (exemption: ExemptionRecord, standing: Standing): boolean =>
  standing.mayDecide && !(standing.isForTwo && isOwn(exemption, standing));

const isOwn = ({ requestedBy }: ExemptionRecord, { viewer }: Standing): boolean =>
  requestedBy.type === 'user' && requestedBy.id === viewer?.id;

export const mayTakeBack = (exemption: ExemptionRecord, standing: Standing): boolean =>
  standing.mayDecide || isOwn(exemption, standing);

export function takeBack({ id, state }: ExemptionRecord, path: string, sent = html``): Html {
  const [name, act] =
    state === 'requested' ? ['Withdraw…', 'Withdraw request'] : ['Revoke exemption…', 'Revoke exemption'];
  return confirmation(name, `${path}/${id}/revoke`, html`${sent} ${why(`revoke-${id}`)}`, act);
}

const why = (id: string): Html =>
  textField({
    name: 'reason',
    id: `why-${id}`,
    label: 'Reason',
    attributes: html`required maxlength="10000"`,
  });

/** @param isPrimary whether it is the main thing to do on the page. */
function askForm(
  path: string,
  headSha: string,
  standing: Standing,
  { isAsked, refused }: AskedForm,
  isPrimary: boolean,
): Html {
  const now = isAtOnce(standing);
  // No other form of the page has a duration.
  const given = refused?.form.has('hours') ? refused.form : null;
  const problems = (given && refused?.problems) || noProblems;
  return html`<details class="confirm" ${given || isAsked ? html`open` : ''}>
    <summary class="button ${isPrimary ? '' : 'quiet'}">${now ? 'Exempt…' : 'Request exemption…'}</summary>
    <form class="card form" method="post" action="${path}">
      ${onceField()} ${hiddenField('head_sha', headSha)}
      ${textArea({
        name: 'reason',
        label: 'Reason',
        value: given?.get('reason') ?? '',
        problems,
        hint: 'The status and this page show the reason.',
        attributes: html`required ${isAsked ? html`autofocus` : ''}`,
      })}
      ${chips(
        'radio',
        { name: 'hours', label: 'Duration' },
        Object.entries(exemptionDurations).map(([value, label]) => ({ value, label })),
        [given?.get('hours') ?? '24'],
      )}
      <label class="choice">
        <input type="checkbox" name="any_head" value="yes" ${given?.has('any_head') ? html`checked` : ''} />
        Keep the exemption when new commits are pushed
      </label>
      <button type="submit">${now ? 'Exempt pull request' : 'Request exemption'}</button>
    </form>
  </details>`;
}

/** The exemption that the page shows: the approved one, else the last one that was approved. */
export function shownExemption(exemptions: ExemptionRecord[], now: Date): ExemptionRecord | null {
  const approved = exemptions.filter(({ approvedAt }) => approvedAt !== null);
  return approved.find((each) => isFormOn(each, now)) ?? approved[0] ?? null;
}

/** Whether an exemption is approved and not over. */
export const isFormOn = ({ state, expiresAt }: ExemptionRecord, now: Date): boolean =>
  state === 'approved' && expiresAt > now;

/** Until when a pull request is exempt, and why. Follows "Exempt". */
export const exemptUntil = ({ expiresAt, reason }: ExemptionRecord, times: Times): Html =>
  html`until
    <strong>${instantText(expiresAt, times)}</strong
    >${reason === '' ? '.' : html`, because ${quotedLast(reason)}`}`;

/** By whom a pull request is exempt, and what that covers. */
export const exemptBy = ({ requestedBy, decidedBy, anyHead, headSha, freezeIds }: ExemptionRecord): Html =>
  html`<p>
    Requested by ${nameOfApprover(requestedBy)}, approved by ${nameOfApprover(decidedBy)}.
    ${anyHead ? 'It applies to all commits.' : html`It applies to commit <code>${headSha.slice(0, 7)}</code> only.`}
    ${freezeIds ? 'It applies to some freezes only.' : ''}
  </p>`;

/**
 * The same for a pull request that something else holds; or why it is no longer exempt. That leaves out the reason, which
 * may be about a past freeze and not be public.
 */
export const exemptionNotice = (exemption: ExemptionRecord, times: Times): Html =>
  isFormOn(exemption, times.now)
    ? html`<div class="card" role="status">
        <p><strong>Exempt</strong> ${exemptUntil(exemption, times)}</p>
        ${exemptBy(exemption)}
      </div>`
    : html`<p class="card" role="status">
        The exemption that ${nameOfApprover(exemption.requestedBy)} requested
        ended${exemption.endedAt ? html` ${instantText(exemption.endedAt, times)}` : ''}:
        ${endOfExemption(exemption)}.
      </p>`;

/** Why an exemption ended, inside a sentence. */
export const endOfExemption = (exemption: ExemptionRecord): Html =>
  exemption.state === 'revoked'
    ? html`${nameOfApprover(exemption.decidedBy)} revoked the exemption`
    : whyEnded[exemption.endedBy ?? 'time'](exemption);

/** For the person who requested it. */
const deniedNotice = (
  { requestedBy, decidedBy, decidedAt, decisionReason }: ExemptionRecord,
  times: Times,
): Html =>
  html`<p class="notice" role="status">
    ${nameOfApprover(decidedBy)} denied the exemption that ${nameOfApprover(requestedBy)}
    requested${decidedAt ? html` ${instantText(decidedAt, times)}` : ''}${decisionReason ? html`: ${quotedLast(decisionReason)}` : '.'}
  </p>`;

const whyEnded: Record<EndedBy, (exemption: ExemptionRecord) => Html> = {
  pushed: ({ headSha }) =>
    html`another commit was pushed, and the exemption was for <code>${headSha.slice(0, 7)}</code>`,
  retargeted: ({ baseRef }) =>
    html`its base branch was changed, and the exemption was for <code>${baseRef}</code>`,
  time: () => html`the exemption expired`,
  freezes: () => html`the last freeze that it applied to has ended`,
  merged: () => html`the pull request was merged`,
};

export const nameOfApprover = (actor: Actor | null): string => (actor ? actorName(actor) : 'somebody');
