import { givenReason } from '../../../api/v1/exemption-schemas.ts';
import { validate } from '../../../api/read-request.ts';
import type { Tx } from '../../../database/database.ts';
import type { ExemptionRecord } from '../../../exemptions/exemption-store.ts';
import { requestExemption } from '../../../exemptions/request-exemption.ts';
import { describeInstant } from '../../../time/local-time.ts';
import { howToDecide } from '../answer-text.ts';
import { conflict } from '../../../errors.ts';
import { actorOf, assertWriter, type CarryOut, type Order } from '../order.ts';
import { zoneOfRepository } from '../zone-of-repository.ts';

/** Exempts the pull request with its current head commit: at once for admins, else an admin must decide. */
export const exempt: CarryOut = async (order) => {
  const notAdmin = assertWriter(order);
  const { deps, repository, number, words } = order;
  const reason = validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const wish = {
    reason,
    publicReason: null,
    freezeIds: null,
    anyHead: false,
    headSha: await headThen(order),
    expiresAt: null,
  };
  const caller = { actor: actorOf(order), notAdmin };
  let text = '';
  const keep = (tx: Tx, exemption: ExemptionRecord) => {
    text = told(exemption, zone);
    return order.keep(tx, text, exemption.state === 'requested' ? exemption.id : undefined);
  };
  await requestExemption(deps, caller, repository, BigInt(number), wish, keep, true);
  return text;
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

function told({ state, headSha, expiresAt }: ExemptionRecord, zone: string): string {
  const until = describeInstant(expiresAt, zone);
  if (state === 'approved')
    return `**Exempt until ${until}:** the exemption applies to the commit ${headSha.slice(0, 7)}. A push ends it.`;
  return `**Requested an exemption for the commit ${headSha.slice(0, 7)} until ${until}.** ${howToDecide(headSha)} A push ends the request.`;
}
