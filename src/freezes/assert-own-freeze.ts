import type { Tx } from '../database/database.ts';
import { forbidden } from '../errors.ts';
import type { Actor } from '../events/actor.ts';

/**
 * Holds for people and keys; and for a job where the rule that let it in also let in the job that made the freeze.
 * @throws Refusal forbidden.
 */
export async function assertOwnFreeze(tx: Tx, actor: Actor, id: string): Promise<void> {
  if (actor.type === 'user' || actor.run === undefined) return;
  const { createdBy } = await tx.freeze.findUniqueOrThrow({ where: { id }, select: { createdBy: true } });
  if ((createdBy as Actor).id === actor.id) return;
  throw forbidden(
    `${actor.name} may change and end the freezes that jobs under its OIDC rule made, and freeze ${id} is none of them. Ask an admin of the repository.`,
  );
}
