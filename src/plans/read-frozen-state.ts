import { createHash } from 'node:crypto';
import { cachePerService } from '../github/cache.ts';
import { nowOf } from '../time/clock.ts';
import type { NotOver } from '../freezes/list-freezes.ts';
import { type FrozenState, frozenStateAt, type Span } from './frozen-state.ts';
import { parseFreeze, parseStoredFreezes, type FreezeQuery, couldHold } from '../freezes/judge-freeze.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import { freezesAreOn } from '../installations/product.ts';
import { namedBy } from './matched-repositories.ts';
import { daysMade, occurrencesFrom } from './occurrences.ts';
import { type RepeatingPlan, repeatingPlans } from './plan-store.ts';
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import { day } from '../time/units.ts';

/** Occurrences within this time have freezes already. Leaves a day for late workers. */
const madeAhead = (daysMade - 1) * day;
/** How far beyond the requested instant we expand plans. */
const knownAhead = 5 * 366 * day;

/**
 * Whether a repository is frozen at an instant: by stored freezes and, in the future, by freezes that plans will create.
 * @param notOver the freezes that had not ended at the instant.
 */
export async function readFrozenState(
  deps: Pick<FreezeDeps, 'sql' | 'clock' | 'github'>,
  repository: FoundRepository,
  { kept: rows, repeats }: NotOver,
  asked: FreezeQuery,
  at: Date,
): Promise<FrozenState> {
  const now = nowOf(deps.clock);
  const parsed = await parseStoredFreezes(rows.map(({ freeze }) => freeze));
  const kept = rows.map(({ deletedAt }, index) => ({ parsed: parsed[index]!, deletedAt }));
  const state = frozenStateAt(kept, asked, at);
  if (!repeats) return state;
  const { nextTransitionAt } = state;
  const madeUntil = new Date(now.getTime() + madeAhead);
  if (at < madeUntil && nextTransitionAt !== null && nextTransitionAt < madeUntil) return state;
  // Plans create no freezes where they would hold nothing.
  if (repository.archived || !freezesAreOn(repository.products)) return state;
  const plans = await repeatingPlans({ query: deps.sql.read }, repository.accountId, repository.id, now);
  const own = plans.filter(
    (plan) => isMatched(deps, plan, repository) && couldHold(parseFreeze(plan), asked),
  );
  return frozenStateAt(
    kept,
    asked,
    at,
    own.map((plan) => notMadeYet(plan, now, at)),
  );
}

/** Cached by globs and name. Compiling the globs of all plans takes longer than the rest, and they rarely change. */
const matched = cachePerService<string, boolean>(20_000, Infinity);

function isMatched(
  deps: Pick<FreezeDeps, 'github' | 'clock'>,
  { repositories }: RepeatingPlan,
  { name }: FoundRepository,
): boolean {
  const known = matched(deps);
  const key = createHash('sha256')
    .update(JSON.stringify([repositories, name]))
    .digest('base64');
  const found = known.get(key) ?? namedBy({ repositories }, [{ name }]).length > 0;
  known.set(key, found);
  return found;
}

/** The occurrences without freezes yet. Lazy. */
function* notMadeYet(plan: RepeatingPlan, now: Date, at: Date): Generator<Span> {
  const from = at > now ? at : now;
  const made = new Set(plan.made);
  for (const { key, startsAt, endsAt } of occurrencesFrom(plan, from)) {
    if (startsAt.getTime() > from.getTime() + knownAhead) return;
    if (startsAt <= now || made.has(key)) continue;
    yield { id: null, from: startsAt.getTime(), to: endsAt!.getTime() };
  }
}
