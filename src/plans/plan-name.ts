import { shorten } from '../words/event-words.ts';

// Names of plans are for everybody who can see the plan, so none is made of a reason that is not.

const longestPlanName = 80;
const nameless = 'Freeze';

/** The name of a plan that nobody named, on every road: a line. @param plan its `publicReason` is null if it has none. */
export const nameFromReasons = (plan: { reason: string; publicReason?: string | null }): string =>
  shorten((plan.publicReason ?? plan.reason).trim().split(/[\r\n]/)[0]!, longestPlanName) || nameless;

/**
 * The name of a plan for a reader. Whoever may not read its reason sees the public one in the place of its name, if there
 * is one: some people write the same in both.
 */
export const shownName = (
  { name, publicReason }: { name: string; publicReason: string | null },
  mayReadReason: boolean,
): string =>
  mayReadReason || publicReason === null ? name : shorten(publicReason, longestPlanName) || nameless;
