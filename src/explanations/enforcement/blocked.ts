import { ifKnown, knownEnforcement } from './recent-enforcement.ts';

// Blocked is what GitHub refuses to merge: it has said so of the pull request, or it has said that the branch requires our
// check. A status alone blocks nothing. Whatever counts what is blocked counts here.

/** Pull requests of one branch whose statuses stand, and of which GitHub has not said that it refuses them. */
export type Unsaid = {
  id: bigint;
  rulesVersion: number;
  base: string | null;
  count: number;
  /** Of how many GitHub will soon be asked whether it would merge them. */
  asked: number;
};

/** As statements give them. */
export type UnsaidRow = [
  repositoryId: string,
  rulesVersion: number,
  base: string | null,
  count: number,
  asked: number,
];

export const readUnsaid = (rows: UnsaidRow[] | null): Unsaid[] =>
  (rows ?? []).map(([id, rulesVersion, base, count, asked]) => ({
    ...{ id: BigInt(id), rulesVersion, base, count, asked },
  }));

/** What is so of them: GitHub requires the check there, nothing requires it, or that is not known. */
export type UnsaidCounts = {
  blocked: number;
  loose: number;
  unsaid: number;
  /** Of how many of the loose and the unsaid GitHub will soon be asked whether it would merge them. */
  toSay: number;
};

/**
 * Counts them by what GitHub has said of their branches. Asks GitHub nothing.
 * @param insides the repositories of which the reader may know what is not enforced. Of others that is not known.
 */
export async function countUnsaid(
  deps: Parameters<typeof knownEnforcement>[0],
  all: Unsaid[],
  insides: Pick<ReadonlySet<bigint>, 'has'>,
): Promise<UnsaidCounts> {
  const counts: UnsaidCounts = { blocked: 0, loose: 0, unsaid: 0, toSay: 0 };
  for (const { base, count, asked, ...place } of all) {
    const word = base === null ? null : await ifKnown(knownEnforcement(deps, place, { base }));
    const its = word === true ? 'blocked' : word === false && insides.has(place.id) ? 'loose' : 'unsaid';
    counts[its] += count;
    if (its !== 'blocked') counts.toSay += asked;
  }
  return counts;
}
