import type { Deps } from '../deps.ts';
import { mergeGroupPath, pullRequestPath } from '../page-paths.ts';

type Head = {
  repositoryId: bigint;
  sha: string;
  state: string;
  /** The closed pull request whose head it is, where no open one has it. */
  closedNumber: number | null;
  isMergeGroup: boolean;
  repository: { name: string; account: { login: string } };
};

/**
 * Where a status leads: the page of its pull request, or of its merge group while that waits. Of several pull requests
 * with the SHA as head or test merge commit, to the lowest number of those held, else the lowest.
 * @returns a URL; null where no open pull request has the SHA any more.
 */
export async function statusTarget(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  head: Head,
): Promise<string | null> {
  const { repository, sha } = head;
  if (head.isMergeGroup && head.state === 'pending')
    return config.publicUrl + mergeGroupPath(repository, sha);
  const number = head.isMergeGroup ? await ownOf(db, head) : await shownOf(db, head);
  return number === null ? null : config.publicUrl + pullRequestPath(repository, number);
}

async function shownOf(db: Deps['db'], { repositoryId, sha, closedNumber }: Head): Promise<number | null> {
  const sharing = await db.openPullRequest.findMany({
    where: { repositoryId, OR: [{ headSha: sha }, { mergeSha: sha }] },
    select: { number: true, heldBy: true },
    orderBy: { number: 'asc' },
  });
  return (sharing.find(({ heldBy }) => heldBy.length > 0) ?? sharing[0])?.number ?? closedNumber;
}

/** A group that passed or failed is gone at once; the pull request whose group it is stays. */
async function ownOf(db: Deps['db'], { repositoryId, sha }: Head): Promise<number | null> {
  const group = await db.mergeGroup.findUnique({
    where: { repositoryId_headSha: { repositoryId, headSha: sha } },
    select: { pullRequests: true },
  });
  return group?.pullRequests.at(-1) ?? null;
}
