import { isDeepStrictEqual } from 'node:util';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { ourselves } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import { defineTask } from '../database/queue/define-task.ts';
import { jobs } from '../database/queue/jobs.ts';
import { keepFreezes, requestReconciles } from './keep-plan.ts';
import { attributesOfPlan, hostOf, type Source, SourceUnreadable } from './plan.ts';
import { findPlan, lockPlan, noteRead, type StoredPlan, touchPlan } from './plan-store.ts';
import { readSource } from './read-source.ts';

/**
 * Reads the calendar of a plan again, and follows what changed. If it cannot be read, the last good copy stays, and the
 * audit log tells it once.
 */
export async function followSource(deps: Deps, id: string): Promise<void> {
  const plan = await findPlan(deps.db, { id }, nowOf(deps.clock));
  if (!plan?.source) return;
  const before = plan.source;
  const read = await readSource(deps, before, plan.timezone, before).catch((error: unknown) => {
    if (error instanceof SourceUnreadable) return error;
    throw error;
  });
  await deps.db.$transaction(async (tx) => {
    await lockPlan(tx, id);
    const now = nowOf(deps.clock);
    const current = await findPlan(tx, { id }, now);
    // Somebody who changed the plan meanwhile read the calendar for it.
    if (!current || !isDeepStrictEqual([current.source, current.timezone], [before, plan.timezone])) return;
    if (read instanceof SourceUnreadable) await noteFailure(deps, tx, current, read.message, now);
    else await follow(deps, tx, current, read.source, now);
  });
}

async function follow(deps: Deps, tx: Tx, before: StoredPlan, source: Source, now: Date): Promise<void> {
  await noteRead(tx, before.id, source, now);
  if (isDeepStrictEqual(before.source!.windows, source.windows)) return;
  await touchPlan(tx, before.id, now);
  const change = { tx, plan: { ...before, source }, by: ourselves, now };
  const kept = await keepFreezes(change, new Set(), { isMoved: true, isEndChanged: false });
  deps.log.info({ plan: before.id, events: source.windows.length }, 'the calendar of a plan changed');
  await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(before.id)]);
}

async function noteFailure(deps: Deps, tx: Tx, plan: StoredPlan, error: string, now: Date): Promise<void> {
  const source = plan.source!;
  await noteRead(tx, plan.id, { ...source, error }, now);
  if (source.error !== null) return;
  const metadata = {
    freeze_plan_id: plan.id,
    freeze_plan_attributes: attributesOfPlan(plan),
    source_url: hostOf(source.url),
    error,
  };
  const place = { accountId: plan.accountId };
  await appendEvent(tx, place, { type: 'freeze_plan.source_failed', metadata }, ourselves, now);
  deps.log.warn({ plan: plan.id, error }, 'the calendar of a plan cannot be read');
}

export const followSourceTask = defineTask(jobs.followSource, (deps, { planId }) =>
  followSource(deps, planId),
);
