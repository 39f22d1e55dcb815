/** The parts of the name of a merge group's ref: the branch, and the pull request of its entry. */
type MergeGroupRef = { branch: string; number: number };

// The SHA at the end is that of the base, not of the group. Branches can contain slashes.
const pattern = /^(?:refs\/heads\/)?gh-readonly-queue\/(.+)\/pr-(\d{1,10})-[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** @returns null for a ref with another form. */
export function parseMergeGroupRef(ref: string): MergeGroupRef | null {
  const [, branch, number] = pattern.exec(ref) ?? [];
  return branch === undefined ? null : { branch, number: Number(number) };
}

/** The branch that a ref such as `refs/heads/release/2` names. */
export const branchOfRef = (ref: string): string => ref.replace(/^refs\/heads\//, '');
