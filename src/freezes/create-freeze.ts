import {
  lockRepository,
  assertWritable,
  type FoundRepository,
  fullName,
} from '../installations/find-repository.ts';
import { randomUUID } from 'node:crypto';
import type { Actor } from '../events/actor.ts';
import { nowOf } from '../time/clock.ts';
import type { Tx } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../errors.ts';
import { appendEvent, placeOf } from '../events/append-event.ts';
import { freezesAreOn } from '../installations/product.ts';
import { checkFreeze } from './check-freeze.ts';
import { type Freeze, freezeInEvent, type NewFreeze } from './freeze.ts';
import { insertFreeze, notEnded } from './freeze-store.ts';
import { warningOfRepeat } from './freeze-warnings.ts';
import { listFreezes } from './list-freezes.ts';
import { limitOpenEnd, planWindow, warningsOfOpenEnd } from './freeze-window.ts';
import { requestReconcile } from './request-reconcile.ts';

/** What we know about a freeze before we save it: the branches where nothing enforces it, and the warnings. */
export type Ahead = { unenforced: string[]; warnings: string[] };

/** A freeze, and its warnings in sentences. */
export type SavedFreeze = { freeze: Freeze; warnings: string[] };

/**
 * Creates a freeze: checks what it would do, and saves it with its event and the jobs for its boundaries in one
 * transaction.
 * @param beforeSaving runs first in the same transaction.
 * @throws Refusal conflict if freezes are switched off, or if the repository cannot be written to or has too many freezes;
 *   invalid if the window or the conditions are wrong.
 */
export async function createFreeze(
  deps: Deps,
  actor: Actor,
  repository: FoundRepository,
  input: NewFreeze,
  beforeSaving: (tx: Tx, saved: SavedFreeze) => Promise<void> = async () => {},
): Promise<SavedFreeze> {
  const { freeze, warnings } = planFreeze(deps, repository, input);
  const ahead = await deps.lookAhead(deps, repository, freeze);
  const now = nowOf(deps.clock);
  const others = await listFreezes(deps.sql, repository, now);
  const repeats = warningOfRepeat(freeze, others, now);
  const saved = { freeze, warnings: [...warnings, ...ahead.warnings, ...repeats] };
  await deps.db.$transaction(async (tx) => {
    await beforeSaving(tx, saved);
    await saveNewFreeze(deps, tx, actor, repository, freeze, ahead, now);
  });
  deps.log.info({ repository: fullName(repository), freeze: freeze.id, by: actor.name }, 'freeze created');
  return saved;
}

/** The requested freeze, not saved yet, and its warnings. @throws Refusal like `createFreeze`. */
export function planFreeze(
  deps: Pick<Deps, 'clock'>,
  repository: FoundRepository,
  input: NewFreeze,
): SavedFreeze {
  assertWritable(repository);
  assertSwitchedOn(repository);
  const now = nowOf(deps.clock);
  const { longestOpenEndHours } = repository;
  const checked = checkFreeze(limitOpenEnd(planWindow(input, now), longestOpenEndHours, now), input);
  const freeze = {
    id: randomUUID(),
    repositoryId: repository.id,
    ...input,
    ...checked,
  };
  return { freeze, warnings: input.end === null ? warningsOfOpenEnd(checked, longestOpenEndHours) : [] };
}

/**
 * Saves a new freeze in a transaction, with its event and its jobs.
 * @throws Refusal conflict where the repository has as many freezes as it may.
 */
export async function saveNewFreeze(
  deps: Pick<Deps, 'config' | 'queue'>,
  tx: Tx,
  actor: Actor,
  repository: FoundRepository,
  freeze: Freeze,
  { unenforced }: Ahead,
  now: Date,
): Promise<void> {
  await assertRoom(tx, repository, now);
  await insertFreeze(tx, freeze, actor, now);
  const metadata = freezeInEvent(freeze);
  await appendEvent(tx, placeOf(repository), { type: 'scheduled_freeze.create', metadata }, actor, now);
  if (unenforced.length > 0) {
    const found = { ...metadata, branches: unenforced, context: deps.config.statusContext };
    const event = { type: 'freeze.not_enforced', metadata: found } as const;
    await appendEvent(tx, placeOf(repository), event, actor, now);
  }
  await requestReconcile(deps, tx, freeze, now);
}

function assertSwitchedOn(repository: FoundRepository): void {
  if (freezesAreOn(repository.products)) return;
  const { account, name } = repository;
  throw conflict(
    `Freezes are switched off for ${fullName(repository)}: neither merge_protections nor merge_queue is enabled. ` +
      `Enable one first with PUT /v1/products/${account.login}/${name} and {"products": ["merge_protections"]}.`,
  );
}

/**
 * How many freezes of a repository may be current, because we judge each of them on every pull request. Future freezes of
 * plans do not count: the number of plans is limited, and so is what each creates ahead. If they counted, thirty daily
 * plans would leave no room for the freeze that somebody needs now.
 */
export const mostFreezes = 1000;

/**
 * Checks that one more freeze may be saved in this transaction. Other transactions that save one wait.
 * @throws Refusal conflict.
 */
async function assertRoom(tx: Tx, repository: FoundRepository, now: Date): Promise<void> {
  await lockRepository(tx, repository.id);
  const NOT = { planId: { not: null }, startsAt: { gt: now } };
  const count = await tx.freeze.count({ where: { repositoryId: repository.id, ...notEnded(now), NOT } });
  if (count < mostFreezes) return;
  const name = fullName(repository);
  throw conflict(
    `${name} has ${mostFreezes.toLocaleString('en')} freezes that are not over, the most there can be. Delete one first: GET /v1/repos/${name}/scheduled_freeze lists them, the earliest start first; those whose end is null stay until they are deleted.`,
  );
}
