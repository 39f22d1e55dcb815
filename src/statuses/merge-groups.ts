import { type MergeGroupRef, parseMergeGroupRef } from '../github/merge-group-ref.ts';
import type { PresentStatus } from '../github/pull-requests/present-status.ts';
import type { MergeQueue, QueueEntry } from '../github/pull-requests/read-merge-queue.ts';

/** A merge group that GitHub announced in a webhook. */
export type AnnouncedGroup = { headSha: string; headRef: string };

/** A merge group and everything that it merges. */
export type FoundGroup = {
  headSha: string;
  /** The entries from its own to the front of the queue, because GitHub builds each group on the one before it. */
  entries: QueueEntry[];
  builtAt: Date;
  /** Whether the queue shows the head. Else we only know it by the name of its ref. */
  isShown: boolean;
  status: PresentStatus;
};

/** The merge groups in the entries of a queue. */
export function groupsIn({ entries }: MergeQueue): FoundGroup[] {
  return entries.flatMap((entry, index) =>
    entry.headSha === null ? [] : [group(entry, entry.headSha, entries.slice(0, index + 1))],
  );
}

/**
 * The group that a webhook announced, if the queue shows it. The name of its ref is a cross-check: if it names a
 * different pull request than the entry, the group counts as merging both, and everything ahead of them.
 * @returns null if the queue does not show the group yet, or no longer: GitHub's answers lag behind its events.
 */
export function findAnnounced(queue: MergeQueue, announced: AnnouncedGroup): FoundGroup | null {
  const named: MergeGroupRef | null = parseMergeGroupRef(announced.headRef);
  const { entries } = queue;
  const bySha = entries.findIndex(({ headSha }) => headSha === announced.headSha);
  const byName = entries.findIndex(({ number }) => number === named?.number);
  if (bySha === -1 && (byName === -1 || entries[byName]!.headSha !== null)) return null;
  const own = entries[bySha === -1 ? byName : bySha]!;
  return group(own, announced.headSha, entries.slice(0, Math.max(bySha, byName) + 1));
}

const group = (entry: QueueEntry, headSha: string, entries: QueueEntry[]): FoundGroup => ({
  headSha,
  entries,
  builtAt: entry.builtAt,
  isShown: entries.some((each) => each.headSha === headSha),
  status: entry.headSha === headSha ? entry.status : null,
});
