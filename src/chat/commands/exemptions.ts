import { validate } from '../../api/read-request.ts';
import { givenReason } from '../../api/v1/exemption-schemas.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { conflict, notFound, type Refusal } from '../../errors.ts';
import { actorName } from '../../events/actor.ts';
import { decideExemption, requireExemption } from '../../exemptions/decide-exemption.ts';
import { type ExemptionRecord, openExemptions } from '../../exemptions/exemption-store.ts';
import { requestExemption } from '../../exemptions/request-exemption.ts';
import { asCode } from '../../github/markdown.ts';
import { type FoundRepository, fullName } from '../../installations/find-repository.ts';
import { deploymentsPath, pullRequestPath } from '../../page-paths.ts';
import { nowOf } from '../../time/clock.ts';
import { describeInstant } from '../../time/local-time.ts';
import { authorizeIn, type WindowPreview, type SlackOrder } from '../slack/slack-order.ts';
import { link, plain } from '../../notices/slack/slack-words.ts';
import type { ChatTarget } from './command.ts';
import {
  assertRole,
  assertWriter,
  type CommentOrder,
  type Order,
  type RunCommand,
  zoneOfRepository,
} from './order.ts';

/**
 * Exempts a pull request with the commit that the person saw: at once for admins, else an admin or approver must decide.
 * @param headSeen that commit; null if there is none.
 */
async function request(
  order: Order,
  repository: FoundRepository,
  number: number,
  notAdmin: Refusal | null,
  headSeen: () => Promise<string | null>,
  textOf: (saved: ExemptionRecord, until: string) => string,
  isAnnounced: boolean,
): Promise<void> {
  const { deps, actor, words } = order;
  const reason = validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const of = { publicReason: null, freezeIds: null, anyHead: false, expiresAt: null };
  const input = { ...of, reason, headSha: await headSeen() };
  const saveAnswer = (tx: Tx, saved: ExemptionRecord) => {
    const text = textOf(saved, describeInstant(saved.expiresAt, zone));
    return order.saveAnswer(tx, text, saved.state === 'requested' ? saved.id : undefined);
  };
  const caller = { actor, notAdmin };
  await requestExemption(deps, caller, repository, BigInt(number), input, saveAnswer, isAnnounced);
}

/** Approves or denies a request. @param words the reason, which may be empty. */
async function decideOn(
  { deps, actor, saveAnswer }: Order,
  repository: FoundRepository,
  id: string,
  decision: 'approve' | 'deny',
  words: string,
  textOf: (decided: ExemptionRecord, zone: string) => string,
): Promise<void> {
  const reason = words === '' ? null : validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const call = { actor, notAdmin: null, decision, reason };
  await decideExemption(deps, repository, id, call, (tx, decided) => saveAnswer(tx, textOf(decided, zone)));
}

/** The requests on a pull request that nobody decided, oldest first. @throws Refusal conflict if there are none. */
async function openRequests(
  deps: Deps,
  repository: FoundRepository,
  number: number,
  how = '',
): Promise<[ExemptionRecord, ...ExemptionRecord[]]> {
  const now = nowOf(deps.clock);
  const open = await openExemptions(deps.db, repository.id, [number]);
  const [first, ...others] = open.filter(({ state, expiresAt }) => state === 'requested' && expiresAt > now);
  if (first) return [first, ...others];
  throw conflict(`${fullName(repository)}#${number} has no open exemption request.${how}`);
}

export const exempt = {
  comment: async (order: CommentOrder): Promise<undefined> => {
    const notAdmin = await assertWriter(order);
    const { repository, number } = order;
    await request(order, repository, number, notAdmin, () => headThen(order), textOfRequest, true);
  },

  /** What an exemption would free. */
  async preview(order: SlackOrder): Promise<WindowPreview> {
    const { deps, words } = order;
    const { repository: name, number } = order.target as OfPullRequest;
    const reason = validate(givenReason, words, 'body');
    const { repository, notAdmin } = await authorizeIn(order, name, { least: 'write' });
    const where = { repositoryId_number: { repositoryId: repository.id, number } };
    const known = await deps.db.openPullRequest.findUnique({ where });
    if (!known) throw notFound(`${fullName(repository)} has no open pull request ${number}.`);
    const what = nameOfRequest(order, repository, number);
    return {
      window: {
        title: 'Exemption',
        act: notAdmin ? 'Request' : 'Exempt',
        paragraphs: [
          notAdmin
            ? `You request that ${what} can merge in spite of freezes. An admin or approver decides.`
            : `${what} can merge in spite of freezes for 24 hours.`,
          `It counts for the commit ${known.headSha.slice(0, 7)}. A push ends it.`,
          `Reason: ${plain(reason)}`,
        ],
      },
      noted: { headSha: known.headSha },
    };
  },

  /** Exempts the pull request with the commit that the window showed. */
  async carryOut(order: SlackOrder): Promise<void> {
    const { words, noted, who } = order;
    const { repository: name, number } = order.target as OfPullRequest;
    const { repository, notAdmin } = await authorizeIn(order, name, { least: 'write' });
    const textOf = ({ state }: ExemptionRecord, until: string): string => {
      const what = nameOfRequest(order, repository, number);
      return state === 'approved'
        ? `${who} exempted ${what} until *${until}*: ${plain(words)}`
        : `${who} requested an exemption for ${what} until ${until}. An admin or approver can write \`/holdfast approve ${fullName(repository)}#${number}\`.`;
    };
    await request(order, repository, number, notAdmin, async () => noted.headSha ?? null, textOf, false);
  },
};

/**
 * The head commit that the comment is about; null if we never saw one.
 * @throws Refusal conflict if the pull request got it after the comment.
 */
async function headThen({ deps, repository, number, writtenAt }: CommentOrder): Promise<string | null> {
  const where = { repositoryId_number: { repositoryId: repository.id, number } };
  const known = await deps.db.openPullRequest.findUnique({ where });
  if (known?.headSince && known.headSince > writtenAt)
    throw conflict(
      `The commit ${known.headSha.slice(0, 7)} came after your comment, so nothing is exempt. Check it, then write the command again.`,
    );
  return known?.headSha ?? null;
}

function textOfRequest({ state, headSha }: ExemptionRecord, until: string): string {
  const commit = headSha.slice(0, 7);
  if (state === 'approved')
    return `**Exempt until ${until}:** the exemption applies to the commit ${commit}. A push ends it.`;
  return `**Requested an exemption for the commit ${commit} until ${until}.** ${howToDecide(headSha)} A push ends the request.`;
}

/** What an admin can do about a request for one commit, in a comment. */
export const howToDecide = (headSha: string): string =>
  `An admin or approver of the repository can write ${asCode(`/holdfast approve ${headSha.slice(0, 7)}`)} or ${asCode('/holdfast deny <reason>')} here, or decide on the page.`;

/**
 * In a comment, approves the request for the commit that the command names, or the only one. Never one that the admin could
 * not have read in the conversation: then the answer lists the open requests.
 */
const approveInComment: RunCommand = async (order) => {
  await assertRole(order, 'approver');
  const { deps, repository, number, words } = order;
  const [, commit = '', rest] = /^(?:([0-9a-f]{7,64})(?:\s+|$))?(.*)$/is.exec(words)!;
  const open = await openRequests(deps, repository, number, howToRequest);
  const meant = commit === '' ? onlyAnnounced(open, order) : onlyFor(commit.toLowerCase(), open, order);
  if (!meant) return listedRequests(order, open);
  await decideOn(order, repository, meant.id, 'approve', rest!, (decided, zone) =>
    textOfDecision(decided, 1, zone),
  );
  return undefined;
};

/** In a comment, denies the newest open request on the pull request. */
const denyInComment: RunCommand = async (order) => {
  await assertRole(order, 'approver');
  const { deps, repository, number, words } = order;
  const open = await openRequests(deps, repository, number, howToRequest);
  await decideOn(order, repository, open.at(-1)!.id, 'deny', words, (decided, zone) =>
    textOfDecision(decided, open.length, zone),
  );
  return undefined;
};

const howToRequest = ' To request an exemption, write /holdfast exempt and a reason.';

/** The only request, if the conversation showed it before the command was written, and it is for one commit. */
function onlyAnnounced(open: ExemptionRecord[], { writtenAt }: CommentOrder): ExemptionRecord | null {
  const [only, ...others] = open;
  const wasShown = only?.announcedAt && only.announcedAt <= writtenAt && isBefore(only, writtenAt);
  return wasShown && others.length === 0 && !only.anyHead ? only : null;
}

/** The only request for this commit, made before the command was written. */
function onlyFor(
  commit: string,
  open: ExemptionRecord[],
  { writtenAt }: CommentOrder,
): ExemptionRecord | null {
  const [only, ...others] = open.filter(({ headSha, anyHead }) => !anyHead && headSha.startsWith(commit));
  return only && others.length === 0 && isBefore(only, writtenAt) ? only : null;
}

const isBefore = ({ requestedAt }: ExemptionRecord, instant: Date): boolean => requestedAt <= instant;

/** What there is to approve, and how: the answer to an approval that could mean something else than its author saw. */
async function listedRequests({ deps, repository }: CommentOrder, open: ExemptionRecord[]): Promise<string> {
  const zone = await zoneOfRepository(deps.db, repository.id);
  const lines = open.map(({ requestedBy, reason, anyHead, headSha, expiresAt }) => {
    const what = anyHead ? '**all commits**' : `the commit ${headSha.slice(0, 7)}`;
    return `- ${asCode(actorName(requestedBy))} requests an exemption for ${what} until ${describeInstant(expiresAt, zone)}: ${repository.private ? asCode(reason) : 'the reason is on the page'}`;
  });
  return [
    '**Nothing was changed.** Holdfast cannot tell which request you mean, or you could not have seen it here. These are open:',
    lines.join('\n'),
    `To approve a request for one commit, write ${asCode('/holdfast approve <commit>')}. You can decide on every request on the page.`,
  ].join('\n\n');
}

function textOfDecision(decided: ExemptionRecord, count: number, zone: string): string {
  const { state, requestedBy, requestedAt, headSha, expiresAt } = decided;
  const which = `the request of ${asCode(actorName(requestedBy))} from ${describeInstant(requestedAt, zone)}`;
  if (state === 'denied')
    return `**Denied** ${which}.${count > 1 ? ` It was the newest of ${count} open requests.` : ''}`;
  const until = describeInstant(expiresAt, zone);
  return `**Exempt until ${until}:** approved ${which}. The exemption applies to the commit ${headSha.slice(0, 7)}.`;
}

type OfPullRequest = Extract<ChatTarget, { kind: 'pull-request' }>;

const nameOfRequest = (order: SlackOrder, repository: FoundRepository, number: number): string =>
  link(
    order.deps.config.publicUrl + pullRequestPath(repository, number),
    `${fullName(repository)}#${number}`,
  );

/** What an exemption is for. */
const subjectOfRequest = (
  order: SlackOrder,
  repository: FoundRepository,
  exemption: ExemptionRecord,
): string =>
  exemption.deployment
    ? link(
        order.deps.config.publicUrl + deploymentsPath(repository),
        `a deployment of ${fullName(repository)} to ${exemption.deployment.environment}`,
      )
    : nameOfRequest(order, repository, exemption.pullRequest);

/** The request that a decision would be about, and the decision on the one that the window showed. */
const inSlack = (act: 'Approve' | 'Deny') => ({
  async preview(order: SlackOrder): Promise<WindowPreview> {
    const { deps } = order;
    const { repository: name, number } = order.target as OfPullRequest;
    const { repository } = await authorizeIn(order, name, { role: 'approver' });
    const [request, ...others] = await openRequests(deps, repository, number);
    if (others.length > 0)
      throw conflict(
        `${fullName(repository)}#${number} has ${others.length + 1} open requests. Decide on its page: ${deps.config.publicUrl}${pullRequestPath(repository, number)}`,
      );
    const zone = await zoneOfRepository(deps.db, repository.id);
    const { requestedBy, reason, anyHead, headSha, expiresAt } = request;
    const what = anyHead ? '*all commits*' : `the commit ${headSha.slice(0, 7)}`;
    return {
      window: {
        title: `${act} the exemption`,
        act,
        paragraphs: [
          `${plain(actorName(requestedBy))} requests an exemption of ${nameOfRequest(order, repository, number)} for ${what} until ${describeInstant(expiresAt, zone)}.`,
          `Reason: ${plain(reason, 1_000)}`,
        ],
      },
      noted: { exemptionId: request.id },
    };
  },

  async carryOut(order: SlackOrder): Promise<void> {
    const { repository } = order.target as OfPullRequest;
    const decision = act === 'Approve' ? 'approve' : 'deny';
    await decideInSlack(order, repository, order.noted.exemptionId!, decision);
  },
});

export const approve = { comment: approveInComment, ...inSlack('Approve') };
export const deny = { comment: denyInComment, ...inSlack('Deny') };

/** Approves or denies a request, if GitHub says that the person may. */
export async function decideInSlack(
  order: SlackOrder,
  repositoryName: string,
  id: string,
  decision: 'approve' | 'deny',
): Promise<void> {
  const { deps, words, who } = order;
  const { repository } = await authorizeIn(order, repositoryName, { role: 'approver' });
  await requireExemption(deps.db, repository, id);
  await decideOn(order, repository, id, decision, words, (decided, zone) => {
    const { state, requestedBy, expiresAt } = decided;
    const what = `the exemption of ${subjectOfRequest(order, repository, decided)} that ${plain(actorName(requestedBy))} requested`;
    const until = state === 'approved' ? ` until *${describeInstant(expiresAt, zone)}*` : '';
    return `${who} ${state} ${what}${until}${words ? `: ${plain(words)}` : '.'}`;
  });
}
