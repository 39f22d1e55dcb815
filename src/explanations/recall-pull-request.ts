import { nowOf } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import type { FoundRepository } from '../installations/find-repository.ts';

/** What the database knows about an open pull request, from its last verdict. */
export type RecalledPullRequest = { headSha: string; heldBy: Freeze[] };

/** @returns null if it is not known to be open. */
export async function recallPullRequest(
  deps: Pick<Deps, 'db' | 'sql' | 'clock'>,
  repository: FoundRepository,
  number: number,
): Promise<RecalledPullRequest | null> {
  const known = await deps.db.openPullRequest.findUnique({
    where: { repositoryId_number: { repositoryId: repository.id, number } },
  });
  if (!known) return null;
  return { headSha: known.headSha, heldBy: await ongoingAmong(deps, repository, known.heldBy) };
}

/** The ongoing freezes among these ids. */
export async function ongoingAmong(
  { sql, clock }: Pick<Deps, 'sql' | 'clock'>,
  repository: FoundRepository,
  ids: string[],
): Promise<Freeze[]> {
  const now = nowOf(clock);
  const all = await listFreezes(sql, repository, now);
  return all.filter((freeze) => ids.includes(freeze.id) && phaseOf(freeze, now) === 'ongoing');
}
