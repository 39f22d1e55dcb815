import { createHash } from 'node:crypto';
import { judgeBase } from '../../conditions/match.ts';
import { type ParsedFreeze, onlyBranches, couldHold } from '../../freezes/judge-freeze.ts';
import type { SettingValues } from '../../installations/setting-fields.ts';
import { describeInstant } from '../../time/local-time.ts';

/** How a repository is held at once: not, until the statuses hold, or until the last freeze ends. */
export type Mode = SettingValues['instantHold'];

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);

/** What a freeze selects. If somebody changes its conditions, it counts as another one. */
export const holdKeyOf = ({ freeze: { id, matchingConditions, excludeConditions } }: ParsedFreeze): string =>
  `${id} ${digest([matchingConditions, excludeConditions])}`;

/** A branch with open pull requests, and whether it is itself the head of one. Null: not known yet. */
export type Base = { name: string | null; open: number; isHead: boolean };

/** GitHub's word for the default branch, whatever its name is. */
export const defaultBranch = '~DEFAULT_BRANCH';

/** What a ruleset has to hold. */
export type Wanted = { freezes: string[]; text: string; branches: string[] };

/**
 * What has to be in force now.
 * @param freezes the ongoing freezes that hold merges. @param settled the keys of those that hold without a ruleset.
 * @returns null if nothing has to be.
 */
export function wantedNow(
  mode: Mode,
  freezes: ParsedFreeze[],
  settled: string[],
  bases: Base[],
): Wanted | null {
  if (mode === 'off') return null;
  const held = mode === 'lock' ? freezes : freezes.filter((freeze) => !settled.includes(holdKeyOf(freeze)));
  const branches = [...new Set(held.flatMap((freeze) => branchesOf(freeze, bases)))].toSorted();
  if (branches.length === 0) return null;
  return { freezes: held.map(holdKeyOf).toSorted(), text: timeText(held), branches };
}

/**
 * The branches that a freeze could select. A branch that is the head of an open pull request is left out, unless the
 * freeze names it: the ruleset would refuse pushes to it.
 */
function branchesOf(freeze: ParsedFreeze, bases: Base[]): string[] {
  const named = onlyBranches(freeze.freeze);
  if (named) return named.filter((name) => couldHold(freeze, { base: name }));
  const found = bases.flatMap(({ name, isHead }) =>
    name !== null && !isHead && couldHold(freeze, { base: name }) ? [name] : [],
  );
  const isAboutBases = freeze.conditions !== null && judgeBase(freeze.conditions.matching, '') === false;
  return isAboutBases ? found : [defaultBranch, ...found];
}

/** Until when, in the zone of the freeze that ends last. No reason, because everybody can read it. */
function timeText(held: ParsedFreeze[]): string {
  const { freeze } = held.reduce((one, other) => (holdEndOf(other) > holdEndOf(one) ? other : one));
  const until = freeze.endsAt ? `until ${describeInstant(freeze.endsAt, freeze.timezone)}` : 'until removed';
  return `Frozen ${until}${held.length > 1 ? ` (+${held.length - 1} more)` : ''}`;
}

const holdEndOf = ({ freeze }: ParsedFreeze): number => freeze.endsAt?.getTime() ?? Infinity;

/**
 * The context that the ruleset requires: the text, and a mark that no other beginning has. So a success of an earlier one
 * frees nothing.
 * @param observation the number of the observation that it begins with.
 */
export const contextOf = ({ text, freezes }: Wanted, observation: bigint): string =>
  `${text} [${digest([freezes, String(observation)])}]`;

/** Whether a context has that form: nobody else requires it, so a success under it lets nothing else through. */
export const isOurContext = (context: string): boolean => /^Frozen until .+ \[[0-9a-f]{8}\]$/s.test(context);

/** Whether what is in force is what has to be. */
export const isAsWanted = (
  { context, freezes, branches }: { context: string | null; freezes: string[]; branches: string[] },
  wanted: Wanted | null,
): boolean =>
  wanted === null
    ? context === null
    : context !== null &&
      context.startsWith(`${wanted.text} [`) &&
      isSameHold(freezes, wanted.freezes) &&
      isSameHold(branches, wanted.branches);

export const isSameHold = (some: string[], others: string[]): boolean =>
  JSON.stringify(some.toSorted()) === JSON.stringify(others.toSorted());

// How long a freeze takes until it blocks everything, and whether a ruleset is worth it.
