import { randomUUID } from 'node:crypto';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import type { Actor } from '../events/actor.ts';
import { appendEvent } from '../events/append-event.ts';
import type { Account } from '../generated/prisma/client.ts';
import { lockAccount } from '../installations/find-account.ts';
import { jobs } from '../database/queue/jobs.ts';
import { assertNotOver, checkPlan } from './check-plan.ts';
import { keepFreezes, requestReconciles } from './keep-plan.ts';
import { attributesOfPlan, type PlanInput } from './plan.ts';
import { countPlans, insertPlan } from './plan-store.ts';
import { readInput } from './read-source.ts';
import {
  type SavedPlan,
  showPlan,
  warnOfDeployments,
  warnOfExceptions,
  warnOfGivenEnds,
} from './show-plan.ts';

/** How many current plans an owner may have, because each may add a freeze that we judge on every pull request. */
const mostPlans = 200;

/**
 * Saves a plan and creates its freezes, with their events and jobs, in one transaction. Does not wait for GitHub,
 * but reads the calendar that the plan follows.
 * @param beforeAnswering runs last in the same transaction.
 * @throws Refusal invalid, also if its calendar cannot be read; conflict if the owner has too many plans.
 */
export async function createPlan(
  deps: Deps,
  actor: Actor,
  account: Account,
  input: PlanInput,
  beforeAnswering: (tx: Tx, saved: SavedPlan) => Promise<void> = async () => {},
): Promise<SavedPlan> {
  const now = nowOf(deps.clock);
  const read = await readInput(deps, input);
  const checked = checkPlan(read.input, now);
  assertNotOver(checked, now);
  const plan = { ...checked, id: randomUUID(), accountId: account.id };
  const saved = await deps.db.$transaction(async (tx) => {
    await assertRoomForPlan(tx, account, now);
    await insertPlan(tx, plan, actor, now);
    const metadata = { freeze_plan_id: plan.id, freeze_plan_attributes: attributesOfPlan(plan) };
    await appendEvent(tx, { accountId: account.id }, { type: 'freeze_plan.create', metadata }, actor, now);
    const kept = await keepFreezes({ tx, plan, by: actor, now });
    const stored = { ...plan, createdBy: actor, createdAt: now, updatedAt: now, version: 1 };
    const shown = await showPlan(tx, account, stored, now, kept.matched);
    const saved = {
      ...shown,
      warnings: [
        ...read.warnings,
        ...(await warnOfGivenEnds(tx, plan, kept.matched, now)),
        ...warnOfExceptions(plan),
        ...(await warnOfDeployments(tx, plan, shown.nextOccurrences)),
      ],
    };
    await beforeAnswering(tx, saved);
    await requestReconciles(deps, tx, kept.requests, now, kept.isDone ? [] : [jobs.keepPlan(plan.id)]);
    return saved;
  });
  deps.log.info({ account: account.login, plan: plan.id, by: actor.name }, 'freeze plan created');
  return saved;
}

async function assertRoomForPlan(tx: Tx, account: Account, now: Date): Promise<void> {
  await lockAccount(tx, account.id);
  if ((await countPlans(tx, account.id, now)) < mostPlans) return;
  throw conflict(
    `${account.login} has ${mostPlans} freeze plans that are not over, the most there can be. Delete one first: GET /v1/freeze_plans/${account.login} lists them.`,
  );
}
