import { isPlainName } from '../conditions/patterns/compile-glob.ts';
import type { Tx } from '../database/database.ts';
import { conflict } from '../errors.ts';
import { type Administered, administersAll } from '../installations/find-account.ts';
import type { Plan } from './plan.ts';
import { repositoriesFrozen } from './read-freezes.ts';

/** The names in a list of globs; null if the list has a pattern. */
export const plainNames = (globs: string[]): string[] | null => (globs.every(isPlainName) ? globs : null);

/**
 * The repositories that a person must be an admin of to change a plan: those that it names, those that it would name, and
 * those with its ongoing freezes, which change or end with it.
 * @param added the names that it would have. @returns null if there is a pattern: only the owner's admins may change it.
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
 * Checks that the caller is an admin of everything that a change affects. The plan is locked, because others may have
 * changed it since we asked GitHub.
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
