import { givenReason } from '../../api/v1/exemption-schemas.ts';
import { validate } from '../../api/validate.ts';
import type { ExemptionRecord } from '../../exemptions/exemption-store.ts';
import { requestExemption } from '../../exemptions/request-exemption.ts';
import { describeInstant } from '../../time/local-time.ts';
import { asCode } from '../answer-text.ts';
import { actorOf, assertWriter, notAdmin, type CarryOut } from '../order.ts';
import { zoneOfRepository } from '../zone-of-repository.ts';

/** Exempts the pull request with its current head commit: at once for admins, else an admin must decide. */
export const exempt: CarryOut = async (order) => {
  assertWriter(order);
  const { deps, repository, number, words } = order;
  const reason = validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const wish = { reason, publicReason: null, freezeIds: null, anyHead: false, expiresAt: null };
  const caller = { actor: actorOf(order), notAdmin: notAdmin(order) };
  let text = '';
  await requestExemption(deps, caller, repository, BigInt(number), wish, (tx, exemption) => {
    text = told(exemption, zone);
    return order.keep(tx, text);
  });
  return text;
};

function told({ state, headSha, expiresAt }: ExemptionRecord, zone: string): string {
  const until = describeInstant(expiresAt, zone);
  const commit = `the commit ${headSha.slice(0, 7)}`;
  if (state === 'approved')
    return `**Exempt until ${until}:** the exemption applies to ${commit}. A push ends it.`;
  return `**Requested an exemption for ${commit} until ${until}.** An admin of the repository can write ${asCode('/holdfast approve')} or ${asCode('/holdfast deny <reason>')} here, or decide on the page. A push ends the request.`;
}
