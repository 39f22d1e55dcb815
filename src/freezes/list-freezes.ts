import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { Freeze } from './freeze.ts';
import { listFreezes as readFreezes } from './freeze-store.ts';

/** The scheduled and ongoing freezes of a repository, the earliest start first. */
export async function listFreezes(
  deps: Pick<Deps, 'sql' | 'clock'>,
  repository: FoundRepository,
): Promise<Freeze[]> {
  return readFreezes({ query: deps.sql.read }, repository.id, nowOf(deps.clock));
}
