import type { Deps } from '../deps.ts';
import { mergeGroupPath, pullRequestPath } from '../pages/page-paths.ts';

type Head = {
  repositoryId: bigint;
  sha: string;
  isMergeGroup: boolean;
  repository: { name: string; account: { login: string } };
};

/**
 * Where a status leads: the page of its merge group, or of its pull request. Of several with the same head SHA, to
 * the lowest number of those held, else the lowest.
 * @returns a URL; null where no open pull request has the SHA any more.
 */
export async function statusTarget(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  { repositoryId, sha, isMergeGroup, repository }: Head,
): Promise<string | null> {
  if (isMergeGroup) return config.publicUrl + mergeGroupPath(repository, sha);
  const sharing = await db.openPullRequest.findMany({
    where: { repositoryId, headSha: sha },
    select: { number: true, heldBy: true },
    orderBy: { number: 'asc' },
  });
  const shown = sharing.find(({ heldBy }) => heldBy.length > 0) ?? sharing[0];
  return shown ? config.publicUrl + pullRequestPath(repository, shown.number) : null;
}
