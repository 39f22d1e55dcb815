import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import type { Actor } from '../events/actor.ts';
import { conflict, notFound, type Refusal } from '../errors.ts';
import { placeOf } from '../events/append-event.ts';
import { assertWritable, type FoundRepository, fullName } from '../installations/find-repository.ts';
import { lockRepository } from '../installations/repository-rows.ts';
import { readSettings } from '../installations/settings.ts';
import { jobs } from '../queue/jobs.ts';
import { assertRoomForApproval } from './assert-room.ts';
import type { ExemptionState } from './exemption.ts';
import { tellExemption } from './exemption-events.ts';
import { type ExemptionRecord, findExemption, saveExemption } from './exemption-store.ts';
import { assertSecondPerson } from './second-person.ts';

/** The possible decisions, and the states that they need. */
const decisions = {
  approve: { state: 'approved', of: ['requested'], done: 'approved' },
  deny: { state: 'denied', of: ['requested'], done: 'denied' },
  revoke: { state: 'revoked', of: ['requested', 'approved'], done: 'revoked' },
} as const;
export type Decision = keyof typeof decisions;

/** The caller. @property notAdmin the refusal if GitHub says that they are not an admin; null for admins and admin keys. */
export type Caller = { actor: Actor; notAdmin: Refusal | null };

type Call = Caller & {
  decision: Decision;
  reason: string | null;
};

/** The exemption with this id. @throws Refusal not-found. */
export async function requireExemption(
  tx: Tx,
  repository: FoundRepository,
  id: string,
): Promise<ExemptionRecord> {
  const exemption = await findExemption(tx, repository.id, id);
  if (exemption) return exemption;
  const name = fullName(repository);
  throw notFound(`${name} has no exemption ${id}. GET /v1/repos/${name}/exemptions lists them.`);
}

/**
 * Approves, denies or revokes an exemption, with its event and the job for its pull request, in one transaction.
 * @param beforeSaving runs in the same transaction, before anything is saved.
 * @throws Refusal not-found; forbidden if the caller is not an admin (the person who requested it may revoke it), or if
 *   the repository requires two people and the caller requested it; conflict if its state does not allow the decision, or
 *   the pull request has too many approved exemptions.
 */
export async function decideExemption(
  deps: Deps,
  repository: FoundRepository,
  id: string,
  { actor, notAdmin, decision, reason }: Call,
  beforeSaving: (tx: Tx, exemption: ExemptionRecord) => Promise<void>,
): Promise<ExemptionRecord> {
  const now = nowOf(deps.clock);
  const { state, of, done } = decisions[decision];
  const decided = await deps.db.$transaction(async (tx) => {
    await lockRepository(tx, repository.id);
    const { twoPersonExemptions: isForTwo } = await readSettings(tx, repository.id);
    const exemption = await requireExemption(tx, repository, id);
    assertMay(decision, exemption, { actor, notAdmin });
    if (decision === 'approve') assertWritable(repository);
    const change = {
      state,
      decidedBy: actor,
      decidedAt: now,
      decisionReason: reason,
      ...(decision === 'approve' ? { approvedAt: now } : { endedAt: now }),
    };
    const after = { ...exemption, ...change };
    await beforeSaving(tx, after);
    if (decision === 'approve' && isForTwo) await assertSecondPerson(tx, exemption.requestedBy, actor);
    assertState(exemption, of, done, now);
    if (decision === 'approve') await assertRoomForApproval(tx, repository, exemption, now);
    if (!(await saveExemption(tx, exemption, change)))
      throw conflict('A concurrent change of this exemption won. List the exemptions and try again.');
    await tellExemption(tx, placeOf(repository), after, { type: `exemption.${done}`, reason }, actor, now);
    const told = { number: after.pullRequest, installationId: String(repository.installation.id) };
    const changesVerdict = decision === 'approve' || exemption.state === 'approved';
    if (changesVerdict) await deps.queue.send([jobs.reconcilePullRequest(repository.id, told)], tx);
    return after;
  });
  const about = { repository: fullName(repository), pullRequest: decided.pullRequest };
  deps.log.info({ ...about, exemption: id, state: decided.state, by: actor.name }, 'exemption decided');
  return decided;
}

/** Requires an admin. The person who requested the exemption may revoke it. @throws Refusal forbidden. */
export function assertMay(decision: Decision, { requestedBy }: ExemptionRecord, { actor, notAdmin }: Caller) {
  if (notAdmin && !(decision === 'revoke' && isSame(requestedBy, actor))) throw notAdmin;
}

const isSame = (one: Actor, other: Actor): boolean => one.type === other.type && one.id === other.id;

function assertState(
  { state, expiresAt }: ExemptionRecord,
  wanted: readonly ExemptionState[],
  done: string,
  now: Date,
): void {
  const present = wanted.includes(state) && expiresAt <= now ? 'expired' : state;
  if (wanted.includes(present)) return;
  throw conflict(
    `This exemption is ${present}, and only one that is ${wanted.join(' or ')} can be ${done}. Request another one if the pull request needs it.`,
  );
}
