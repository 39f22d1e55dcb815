import { nowOf } from '../clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import type { HeadStatus } from '../generated/prisma/client.ts';
import { type ForeignStatus, postStatuses } from '../jobs/tasks.ts';
import { fullName } from '../repositories/find-repository.ts';

/** Who overwrites us again and again is answered later and later, and at last once in this time. Milliseconds. */
const longestWait = 60_000;

type Written = { id: bigint; state: string; description: string };

/**
 * Whether a status under our context, as its webhook tells of it, stands there instead of ours. The events of our
 * own writes come too: what says what we want, and what is older than our last write, is none.
 */
export function isForeign(
  head: Pick<HeadStatus, 'state' | 'description' | 'writtenId'>,
  { id, state, description }: Written,
): boolean {
  if (head.writtenId !== null && id <= head.writtenId) return false;
  return state !== head.state || description !== head.description;
}

/** The status of a SHA that an event contradicts; null where it does not. */
export async function findContradicted(
  db: Tx,
  repositoryId: bigint,
  sha: string,
  written: Written,
): Promise<HeadStatus | null> {
  const head = await db.headStatus.findUnique({ where: { repositoryId_sha: { repositoryId, sha } } });
  return head && isForeign(head, written) ? head : null;
}

/** Has our status written again over one that says something else, and records who wrote that. */
export async function correctStatus(
  deps: Deps,
  repositoryId: bigint,
  sha: string,
  foreign: ForeignStatus,
): Promise<void> {
  const repository = await deps.db.repository.findUnique({
    where: { id: repositoryId },
    include: { account: true, installation: true },
  });
  const { installation } = repository ?? {};
  if (!repository || !installation) return;
  // Ours too: an attempt whose answer was lost may arrive late, and stands corrected without being recorded.
  const isOurs = foreign.by === (await deps.github.botLogin());
  await deps.db.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM head_statuses WHERE repository_id = ${repositoryId} AND sha = ${sha} FOR UPDATE`;
    const id = BigInt(foreign.id);
    const head = await findContradicted(tx, repositoryId, sha, { ...foreign, id });
    // Of ours that waits the newer one is about to be written.
    if (!head || (head.isWaiting && isOurs)) return;
    const now = nowOf(deps.clock);
    const wait = head.overwrites === 0 ? 0 : Math.min(longestWait, 1000 * 2 ** Math.min(head.overwrites, 6));
    await tx.headStatus.update({
      where: { repositoryId_sha: { repositoryId, sha } },
      data: {
        isWaiting: true,
        waitingSince: head.waitingSince ?? now,
        urgency: Math.min(head.urgency, head.state === 'success' ? letsGo : closes),
        ...(!head.isWaiting && { notBefore: new Date(now.getTime() + wait) }),
        overwrites: { increment: 1 },
        // The write looks first: our answer to an earlier event may have arrived by then.
        attempts: Math.max(1, head.attempts),
        writtenState: foreign.state,
        writtenDescription: foreign.description,
        writtenId: id,
      },
    });
    await deps.jobs.send(
      [postStatuses(installation.id, wait > 0 ? new Date(now.getTime() + wait) : undefined)],
      tx,
    );
    if (isOurs) return;
    const { state, description, by, byId } = foreign;
    deps.log.warn({ repository: fullName(repository), sha, by, state }, 'our status was overwritten');
    await appendEvent(
      tx,
      placeOf({ ...repository, installation }),
      {
        type: 'freeze_status.overwritten',
        metadata: { sha, state, description, expected_state: head.state },
      },
      { type: 'user', id: byId, name: by },
      now,
    );
  });
}

/** Urgencies among those of `save-verdicts.ts`: as what holds, and as what lets go. */
const closes = 0;
const letsGo = 4;
