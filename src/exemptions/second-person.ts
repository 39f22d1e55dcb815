import type { Actor } from '../events/actor.ts';
import type { Tx } from '../database/database.ts';
import { forbidden } from '../errors.ts';
import { makerOfKey } from '../auth/manage-keys.ts';

/**
 * Checks that the person who decides is not the person who requested. A key stands for the person who created it. Two keys
 * never prove that there are two people.
 * @throws Refusal forbidden.
 */
export async function assertSecondPerson(tx: Tx, requestedBy: Actor, actor: Actor): Promise<void> {
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
