import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import { type Actor, isSaidByOwner } from '../events/actor.ts';
import { conflict, forbidden, notFound, type Refusal } from '../errors.ts';
import { placeOf } from '../events/append-event.ts';
import {
  assertWritable,
  type FoundRepository,
  fullName,
  lockRepository,
} from '../installations/find-repository.ts';
import { deploymentsPath, pullRequestPath } from '../page-paths.ts';
import { readSettings } from '../settings/settings.ts';
import type { ExemptionState } from './exemption.ts';
import { assertApprovalLimit, changeExemption, inLog, wakeFor } from './save-exemption.ts';
import { type ExemptionKind, type ExemptionRecord, findExemption } from './exemption-store.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';

/** The possible decisions, and the states that they need. */
const decisions = {
  approve: { state: 'approved', of: ['requested'] },
  deny: { state: 'denied', of: ['requested'] },
  revoke: { state: 'revoked', of: ['requested', 'approved'] },
} as const;
export type Decision = keyof typeof decisions;

/** The caller. @property notAdmin the refusal if GitHub says that they are not an admin; null for admins and admin keys. */
export type DecisionCaller = { actor: Actor; notAdmin: Refusal | null };

type DecisionCall = DecisionCaller & {
  decision: Decision;
  reason: string | null;
};

/** The exemption with this id. @param of what it must be of; by default either. @throws Refusal not-found. */
export async function requireExemption(
  tx: Tx,
  repository: FoundRepository,
  id: string,
  of?: ExemptionKind,
): Promise<ExemptionRecord> {
  const exemption = await findExemption(tx, repository.id, id);
  if (exemption && (of === undefined || (of === 'deployment') === (exemption.deployment !== null)))
    return exemption;
  const name = fullName(repository);
  const list = of === 'deployment' ? 'deployment_exemptions' : 'exemptions';
  throw notFound(
    `${name} has no ${of === 'deployment' ? 'deployment exemption' : 'exemption'} ${id}. GET /v1/repos/${name}/${list} lists them.`,
  );
}

/**
 * Approves, denies or revokes an exemption, with its event and the job for its effect, in one transaction.
 * @param beforeSaving runs in the same transaction, before anything is saved.
 * @throws Refusal not-found; forbidden if the caller is not an admin (the person who requested it may revoke it), or if
 *   the repository requires two people and the caller requested it, or comes by the owner's own Slack app; conflict if its
 *   state does not allow the decision, or the pull request has too many approved exemptions.
 */
export async function decideExemption(
  deps: FreezeDeps,
  repository: FoundRepository,
  id: string,
  { actor, notAdmin, decision, reason }: DecisionCall,
  beforeSaving: (tx: Tx, exemption: ExemptionRecord) => Promise<void>,
): Promise<ExemptionRecord> {
  const now = nowOf(deps.clock);
  const { state, of } = decisions[decision];
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
    if (decision === 'approve' && isForTwo) {
      assertThemselves(deps, repository, exemption, actor);
      await assertSecondPerson(tx, exemption.requestedBy, actor);
    }
    assertState(exemption, of, state, now);
    if (decision === 'approve') await assertApprovalLimit(tx, repository, exemption, now);
    if (!(await changeExemption(tx, placeOf(repository), exemption, change, actor, now)))
      throw conflict('A concurrent change of this exemption won. List the exemptions and try again.');
    const changesVerdict = decision === 'approve' || exemption.state === 'approved';
    if (changesVerdict) await deps.queue.send([wakeFor(repository, after)], tx);
    return after;
  });
  const about = { ...inLog(repository, decided), exemption: id, state: decided.state };
  deps.log.info({ ...about, by: actor.name }, 'exemption decided');
  return decided;
}

/** Requires an admin. The person who requested the exemption may revoke it. @throws Refusal forbidden. */
export function assertMay(
  decision: Decision,
  { requestedBy }: ExemptionRecord,
  { actor, notAdmin }: DecisionCaller,
) {
  if (notAdmin && !(decision === 'revoke' && isSamePerson(requestedBy, actor))) throw notAdmin;
}

const isSamePerson = (one: Actor, other: Actor): boolean => one.type === other.type && one.id === other.id;

function assertState(
  { state, expiresAt }: ExemptionRecord,
  wanted: readonly ExemptionState[],
  done: string,
  now: Date,
): void {
  const present = wanted.includes(state) && expiresAt <= now ? 'expired' : state;
  if (wanted.includes(present)) return;
  throw conflict(
    `This exemption is ${present}, and only one that is ${wanted.join(' or ')} can be ${done}. Request another one if it is still needed.`,
  );
}

/**
 * Checks that it is the person themselves who requests or decides where two people must. An owner's own Slack app proves
 * nothing: whoever has its signing secret can speak in anybody's name.
 * @throws Refusal forbidden, with the page.
 */
export function assertThemselves(
  { config }: Pick<FreezeDeps, 'config'>,
  repository: FoundRepository,
  { deployment, pullRequest }: Pick<ExemptionRecord, 'deployment' | 'pullRequest'>,
  actor: Actor,
): void {
  if (!isSaidByOwner(actor)) return;
  const path = deployment ? deploymentsPath(repository) : pullRequestPath(repository, pullRequest);
  throw forbidden(
    `This repository requires two people, and the Slack app of ${repository.account.login} does not prove that you are one of them: its admins could send this in your name. Do it on the page: ${config.publicUrl}${path}`,
  );
}

/**
 * Checks that the person who decides is not the person who requested. A key stands for the person who created it. Two keys
 * never prove that there are two people.
 * @throws Refusal forbidden.
 */
async function assertSecondPerson(tx: Tx, requestedBy: Actor, actor: Actor): Promise<void> {
  const ask = 'This repository requires two people. Ask another admin to decide.';
  if (requestedBy.type === 'application' && actor.type === 'application')
    throw forbidden(`A key requested this exemption, so no key can approve it. ${ask}`);
  const [one, other] = [await personBehind(tx, requestedBy), await personBehind(tx, actor)];
  if (one !== other) return;
  if (requestedBy.type === actor.type) throw forbidden(`${actor.name} requested this exemption. ${ask}`);
  throw forbidden(`A person and a key that they created count as one person. ${ask}`);
}

/** The GitHub id of a person, or of the person who created a key, directly or through other keys; null if unknown. */
const personBehind = (tx: Tx, actor: Actor): Promise<number | null> | number =>
  actor.type === 'user' ? actor.id : makerOfKey(tx, actor.id);

/** GitHub's id of the person who made a key, directly or through other keys; null if it is not known. */
async function makerOfKey(tx: Tx, id: string): Promise<number | null> {
  const [row] = await tx.$queryRaw<{ id: string }[]>`
    WITH RECURSIVE line AS (
      SELECT created_by FROM application_keys WHERE id = ${id}::uuid
      UNION ALL
      SELECT maker.created_by FROM application_keys maker JOIN line
        ON line.created_by->>'type' = 'application' AND maker.id::text = line.created_by->>'id'
    )
    SELECT created_by->>'id' AS id FROM line WHERE created_by->>'type' = 'user'`;
  return row ? Number(row.id) : null;
}
