import { nowOf } from '../time/clock.ts';
import type { Deps } from '../deps.ts';
import type { Freeze } from '../freezes/freeze.ts';
import { phaseOf } from '../freezes/freeze-window.ts';
import { listFreezes } from '../freezes/list-freezes.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { type ReasonNotHeld, whyGroupNotHeld } from '../statuses/held-pull-requests.ts';
import { type Status, wantedOn } from '../statuses/status.ts';
import { statusOn } from '../statuses/write-store.ts';

/** What the database knows about an open pull request, from its last verdict. */
type RecalledPullRequest = { headSha: string; heldBy: Freeze[] };

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
async function ongoingAmong(
  { sql, clock }: Pick<Deps, 'sql' | 'clock'>,
  repository: FoundRepository,
  ids: string[],
): Promise<Freeze[]> {
  const now = nowOf(clock);
  const all = await listFreezes(sql, repository, now);
  return all.filter((freeze) => ids.includes(freeze.id) && phaseOf(freeze, now) === 'ongoing');
}

/** A merge group with its last verdict. */
export type RecalledMergeGroup = {
  branch: string;
  /** Our status on it, or the one that we are about to write; null before the first verdict. */
  status: (Status & { isFinal: boolean }) | null;
  /** The pull requests that it merges, in queue order; empty while GitHub's queue does not show it. */
  pullRequests: { number: number; heldBy: Freeze[] }[];
  heldBy: Freeze[];
  /** Why it may not be held although freezes should hold it. */
  notHeld: ReasonNotHeld | null;
};

/** @returns null if the group does not exist any more. */
export async function recallMergeGroup(
  deps: Pick<Deps, 'db' | 'sql' | 'clock'>,
  repository: FoundRepository,
  headSha: string,
): Promise<RecalledMergeGroup | null> {
  const { db } = deps;
  const { id } = repository;
  const group = await db.mergeGroup.findUnique({
    where: { repositoryId_headSha: { repositoryId: id, headSha } },
  });
  if (!group) return null;
  const status = await statusOn(db, id, headSha);
  const open = await db.openPullRequest.findMany({
    where: { repositoryId: id, number: { in: group.pullRequests } },
    select: { number: true, heldBy: true },
  });
  const held = new Map(open.map(({ number, heldBy }) => [number, heldBy]));
  const freezes = await ongoingAmong(deps, repository, [
    ...group.heldBy,
    ...open.flatMap(({ heldBy }) => heldBy),
  ]);
  const among = (ids: string[]) => freezes.filter((freeze) => ids.includes(freeze.id));
  return {
    branch: group.branch,
    status: status && { ...wantedOn(status), isFinal: status.isFinal },
    pullRequests: group.pullRequests.map((number) => ({ number, heldBy: among(held.get(number) ?? []) })),
    heldBy: among(group.heldBy),
    notHeld: await whyGroupNotHeld(deps, id, headSha),
  };
}
