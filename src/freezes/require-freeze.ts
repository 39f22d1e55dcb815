import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { type FoundRepository, fullName } from '../installations/find-repository.ts';
import { findFreeze } from './freeze-store.ts';
import type { StoredFreeze } from './freeze-columns.ts';

/**
 * The freeze of this id, while it is scheduled or ongoing.
 * @throws Refusal not-found.
 */
export async function requireFreeze(
  deps: Pick<Deps, 'db' | 'clock'>,
  repository: FoundRepository,
  id: string,
): Promise<StoredFreeze> {
  const freeze = await findFreeze(deps.db, repository.id, id, nowOf(deps.clock));
  if (!freeze) throw freezeAbsent(repository, id);
  return freeze;
}

/** The refusal for a freeze that never existed, is deleted or has ended. */
const freezeAbsent = (repository: FoundRepository, id: string) =>
  notFound(
    `${fullName(repository)} has no scheduled or ongoing freeze ${id}. It may have ended or been deleted.`,
  );
