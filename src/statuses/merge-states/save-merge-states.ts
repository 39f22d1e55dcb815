import { ourselves } from '../../events/actor.ts';
import { nowOf } from '../../clock.ts';
import type { Tx } from '../../database/database.ts';
import type { Deps } from '../../deps.ts';
import { appendEvents, type Happened, placeOf } from '../../events/append-event.ts';
import { throughPrisma } from '../../database/sql.ts';
import { attributesOf } from '../../freezes/freeze-store.ts';
import { listFreezes } from '../../freezes/list-freezes.ts';
import type { ReadMergeState } from '../../github/pull-requests/read-merge-states.ts';
import { fullName } from '../../installations/find-repository.ts';
import type { ObservedRepository } from '../observe.ts';
import { judgeMergeState, type Watched } from './merge-state.ts';

type Needed = Pick<Deps, 'db' | 'sql' | 'clock' | 'log'>;
/** A held pull request that GitHub is asked about. */
export type Asked = Watched & { number: number; nodeId: string; headSha: string; heldBy: string[] };
/** One that GitHub would merge. */
type Leak = Asked & { base: string; mergeState: string };

const saveStates = `
  UPDATE open_pull_requests held SET merge_state_due_at = due_at, merge_state = told.merge_state,
    merge_state_asks = asks, leaking_since = told.leaking_since
  FROM unnest($2::int[], $3::text[], $4::timestamptz[], $5::text[], $6::int[], $7::timestamptz[])
    AS told(number, head_sha, due_at, merge_state, asks, leaking_since)
  WHERE held.repository_id = $1 AND held.number = told.number
    AND held.head_sha = told.head_sha AND cardinality(held.held_by) > 0`;

/**
 * Keeps what GitHub says of held pull requests, by their heads, and records each that it would merge: once for a
 * freeze and head.
 * @param answers by node id.
 */
export async function saveMergeStates(
  deps: Needed,
  repository: ObservedRepository,
  asked: Asked[],
  answers: Map<string, ReadMergeState>,
): Promise<void> {
  const now = nowOf(deps.clock);
  const judged = asked.map((each) => {
    const answer = answers.get(each.nodeId);
    // About another head it says nothing: a look is under way.
    const isOfHead = answer?.headSha === each.headSha;
    const watched = judgeMergeState(each, isOfHead ? answer.state : null, now);
    return { before: each, base: isOfHead ? answer.base : null, ...each, ...watched };
  });
  const leaks = judged.filter(
    (each): each is typeof each & Leak => each.leakingSince !== null && each.base !== null,
  );
  await deps.sql.transaction(async (tx) => {
    await Promise.all([
      tx.query('lock-for-states', 'SELECT FROM repositories WHERE id = $1 FOR NO KEY UPDATE', [
        repository.id,
      ]),
      tx.query('save-merge-states', saveStates, [
        repository.id,
        judged.map(({ number }) => number),
        judged.map(({ headSha }) => headSha),
        judged.map(({ dueAt }) => dueAt),
        judged.map(({ mergeState }) => mergeState),
        judged.map(({ asks }) => asks),
        judged.map(({ leakingSince }) => leakingSince),
      ]),
    ]);
  });
  // On its own, so that observations do not wait for it. If it is not reached, the next answer records the leaks.
  if (leaks.length > 0) await deps.db.$transaction((tx) => record(tx, repository, leaks, now));
  const about = (each: Asked) => ({ repository: fullName(repository), pullRequest: each.number });
  for (const { before, leakingSince, mergeState, ...each } of judged) {
    if (!before.leakingSince && leakingSince)
      deps.log.warn(
        { ...about(before), mergeState },
        'GitHub would merge a pull request that a freeze holds',
      );
    if (before.leakingSince && !leakingSince)
      deps.log.info({ ...about(before), dueAt: each.dueAt }, 'GitHub would not merge it any more');
  }
}

async function record(tx: Tx, repository: ObservedRepository, leaks: Leak[], now: Date): Promise<void> {
  // One recorder at a time.
  await tx.$queryRaw`
    SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(hashtext(${`leaks of ${repository.id}`}))) AS lock`;
  const shas = leaks.map(({ headSha }) => headSha);
  const rows = await tx.$queryRaw<{ freeze: string; sha: string }[]>`
    SELECT metadata->>'scheduled_freeze_id' AS freeze, metadata->>'head_sha' AS sha FROM audit_events
    WHERE repository_id = ${repository.id} AND type = 'freeze.leaking' AND metadata->>'head_sha' = ANY(${shas}::text[])`;
  const recorded = new Set(rows.map(({ freeze, sha }) => `${freeze} ${sha}`));
  const freezes = await listFreezes(throughPrisma(tx), repository, now);
  const happened: Happened[] = [];
  for (const { number, base, headSha, heldBy, mergeState } of leaks) {
    for (const freeze of freezes.filter(({ id }) => heldBy.includes(id))) {
      const once = `${freeze.id} ${headSha}`;
      if (recorded.has(once)) continue;
      recorded.add(once);
      const metadata = {
        scheduled_freeze_id: freeze.id,
        scheduled_freeze_attributes: attributesOf(freeze),
        head_sha: headSha,
        merge_state: mergeState,
      };
      const place = { ...placeOf(repository), pullRequest: { number, base } };
      happened.push({ place, event: { type: 'freeze.leaking', metadata } });
    }
  }
  await appendEvents(tx, happened, ourselves, now);
}
