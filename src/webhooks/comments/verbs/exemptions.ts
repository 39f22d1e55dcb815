import { validate } from '../../../api/read-request.ts';
import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import { nowOf } from '../../../time/clock.ts';
import type { Tx } from '../../../database/database.ts';
import { conflict } from '../../../errors.ts';
import { decideExemption } from '../../../freezes/exemptions/decide-exemption.ts';
import { type ExemptionRecord, openExemptions } from '../../../freezes/exemptions/exemption-store.ts';
import { requestExemption } from '../../../freezes/exemptions/request-exemption.ts';
import { fullName } from '../../../installations/find-repository.ts';
import { actorName } from '../../../events/actor.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { asCode } from '../../../github/markdown.ts';
import { howToDecide } from '../answer-text.ts';
import { assertRole, assertWriter, type Order, type RunCommand, zoneOfRepository } from '../order.ts';

/** Exempts the pull request with its current head commit: at once for admins, else an admin or approver must decide. */
export const exempt: RunCommand = async (order) => {
  const notAdmin = await assertWriter(order);
  const { deps, repository, number, words } = order;
  const reason = validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const input = {
    reason,
    publicReason: null,
    freezeIds: null,
    anyHead: false,
    headSha: await headThen(order),
    expiresAt: null,
  };
  const caller = { actor: order.actor, notAdmin };
  const saveAnswer = (tx: Tx, exemption: ExemptionRecord) =>
    order.saveAnswer(
      tx,
      textOfRequest(exemption, zone),
      exemption.state === 'requested' ? exemption.id : undefined,
    );
  await requestExemption(deps, caller, repository, BigInt(number), input, saveAnswer, true);
};

/**
 * The head commit that the comment is about; null if we never saw one.
 * @throws Refusal conflict if the pull request got it after the comment.
 */
async function headThen({ deps, repository, number, writtenAt }: Order): Promise<string | null> {
  const where = { repositoryId_number: { repositoryId: repository.id, number } };
  const known = await deps.db.openPullRequest.findUnique({ where });
  if (known?.headSince && known.headSince > writtenAt)
    throw conflict(
      `The commit ${known.headSha.slice(0, 7)} came after your comment, so nothing is exempt. Check it, then write the command again.`,
    );
  return known?.headSha ?? null;
}

function textOfRequest({ state, headSha, expiresAt }: ExemptionRecord, zone: string): string {
  const until = describeInstant(expiresAt, zone);
  if (state === 'approved')
    return `**Exempt until ${until}:** the exemption applies to the commit ${headSha.slice(0, 7)}. A push ends it.`;
  return `**Requested an exemption for the commit ${headSha.slice(0, 7)} until ${until}.** ${howToDecide(headSha)} A push ends the request.`;
}

/**
 * Approves a request on the pull request: the one for the commit that the command names, or the only one. Never one that
 * the admin could not have read in the conversation: then the answer lists the open requests.
 */
export const approve: RunCommand = async (order) => {
  await assertRole(order, 'approver');
  const [, commit = '', rest] = /^(?:([0-9a-f]{7,64})(?:\s+|$))?(.*)$/is.exec(order.words)!;
  const open = await openRequests(order);
  const meant = commit === '' ? onlyAnnounced(open, order) : onlyFor(commit.toLowerCase(), open, order);
  return meant ? decide(order, meant, 'approve', rest!) : listed(order, open);
};

/** Denies the newest open request on the pull request. */
export const deny: RunCommand = async (order) => {
  await assertRole(order, 'approver');
  const open = await openRequests(order);
  return decide(order, open.at(-1)!, 'deny', order.words, open.length);
};

async function decide(
  order: Order,
  { id }: ExemptionRecord,
  decision: 'approve' | 'deny',
  words: string,
  count = 1,
): Promise<undefined> {
  const { deps, repository } = order;
  const reason = words === '' ? null : validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const caller = { actor: order.actor, notAdmin: null };
  await decideExemption(deps, repository, id, { ...caller, decision, reason }, (tx, decided) =>
    order.saveAnswer(tx, textOfDecision(decided, count, zone)),
  );
}

/** Oldest first. @throws Refusal conflict if there is no open request. */
async function openRequests({ deps, repository, number }: Order): Promise<ExemptionRecord[]> {
  const now = nowOf(deps.clock);
  const open = await openExemptions(deps.db, repository.id, [number]);
  const requests = open.filter(({ state, expiresAt }) => state === 'requested' && expiresAt > now);
  if (requests.length > 0) return requests;
  throw conflict(
    `${fullName(repository)}#${number} has no open exemption request. To request an exemption, write /holdfast exempt and a reason.`,
  );
}

/** The only request, if the conversation showed it before the command was written, and it is for one commit. */
function onlyAnnounced(open: ExemptionRecord[], { writtenAt }: Order): ExemptionRecord | null {
  const [only, ...others] = open;
  const wasShown = only?.announcedAt && only.announcedAt <= writtenAt && isBefore(only, writtenAt);
  return wasShown && others.length === 0 && !only.anyHead ? only : null;
}

/** The only request for this commit, made before the command was written. */
function onlyFor(commit: string, open: ExemptionRecord[], { writtenAt }: Order): ExemptionRecord | null {
  const [only, ...others] = open.filter(({ headSha, anyHead }) => !anyHead && headSha.startsWith(commit));
  return only && others.length === 0 && isBefore(only, writtenAt) ? only : null;
}

const isBefore = ({ requestedAt }: ExemptionRecord, instant: Date): boolean => requestedAt <= instant;

/** What there is to approve, and how: the answer to an approval that could mean something else than its author saw. */
async function listed({ deps, repository }: Order, open: ExemptionRecord[]): Promise<string> {
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
