import { validate } from '../../api/validate.ts';
import { givenReason } from '../../api/v1/exemption-schemas.ts';
import { nowOf } from '../../clock.ts';
import { conflict } from '../../errors.ts';
import { decideExemption } from '../../exemptions/decide-exemption.ts';
import { type ExemptionRecord, openExemptions } from '../../exemptions/exemption-store.ts';
import { fullName } from '../../installations/find-repository.ts';
import { actorName } from '../../pages/repository/actor-name.ts';
import { describeInstant } from '../../time/local-time.ts';
import { asCode } from '../answer-text.ts';
import { actorOf, assertAdmin, notAdmin, type CarryOut, type Order } from '../order.ts';
import { zoneOfRepository } from '../zone-of-repository.ts';

/** Approves the newest open request on the pull request. */
export const approve: CarryOut = (order) => decide(order, 'approve');

/** Denies the newest open request on the pull request. */
export const deny: CarryOut = (order) => decide(order, 'deny');

async function decide(order: Order, decision: 'approve' | 'deny'): Promise<string> {
  assertAdmin(order);
  const { deps, repository, words } = order;
  const reason = words === '' ? null : validate(givenReason, words, 'body');
  const zone = await zoneOfRepository(deps.db, repository.id);
  const { newest, count } = await openRequests(order);
  const caller = { actor: actorOf(order), notAdmin: notAdmin(order) };
  let text = '';
  await decideExemption(deps, repository, newest.id, { ...caller, decision, reason }, (tx, decided) => {
    text = told(decided, count, zone);
    return order.keep(tx, text);
  });
  return text;
}

/** @throws Refusal conflict if there is no open request. */
async function openRequests({ deps, repository, number }: Order) {
  const now = nowOf(deps.clock);
  const open = await openExemptions(deps.db, repository.id, [number]);
  const requests = open.filter(({ state, expiresAt }) => state === 'requested' && expiresAt > now);
  const newest = requests.at(-1);
  if (!newest)
    throw conflict(
      `${fullName(repository)}#${number} has no open exemption request. To request an exemption, write /holdfast exempt and a reason.`,
    );
  return { newest, count: requests.length };
}

function told(decided: ExemptionRecord, count: number, zone: string): string {
  const { state, requestedBy, requestedAt, headSha, expiresAt } = decided;
  const which = `the request of ${asCode(actorName(requestedBy))} from ${describeInstant(requestedAt, zone)}`;
  const others = count > 1 ? ` It was the newest of ${count} open requests.` : '';
  if (state === 'denied') return `**Denied** ${which}.${others}`;
  const until = describeInstant(expiresAt, zone);
  const head = `the commit ${headSha.slice(0, 7)}`;
  return `**Exempt until ${until}:** approved ${which}. The exemption applies to ${decided.anyHead ? 'all commits' : head}.${others}`;
}
