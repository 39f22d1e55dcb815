import { isPlainName } from '../conditions/patterns/compile-name-glob.ts';
import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { type Administered, administersAll } from '../installations/administered.ts';
import type { Plan } from './plan.ts';
import { repositoriesFrozen } from './read-freezes.ts';

/** The names of a list of globs that has names alone; null for any other. */
export const plainNames = (globs: string[]): string[] | null => (globs.every(isPlainName) ? globs : null);

/**
 * The repositories that somebody must administer to change a plan: those that it names, those that it would name, and
 * those where freezes that it made are on, for they change or end with it.
 * @param added what it would name; @returns null where there is a glob: the change is for the owner's admins.
 */
export async function namesToChange(
  tx: Tx,
  plan: Plan,
  now: Date,
  added: string[] = [],
): Promise<string[] | null> {
  const named = plainNames([...plan.repositories.include, ...added]);
  return named && [...named, ...(await repositoriesFrozen(tx, plan, now))];
}

/**
 * Holds for who administers all that a change of the plan touches. It is locked: since it was asked of GitHub who may
 * change it, others may have changed it.
 * @throws Refusal conflict.
 */
export async function assertMayChange(
  tx: Tx,
  administered: Administered,
  plan: Plan,
  now: Date,
  added?: string[],
): Promise<void> {
  if (administered === null) return;
  if (administersAll(administered, await namesToChange(tx, plan, now, added))) return;
  throw conflict('A concurrent change of this plan won. Read it and try again.');
}
