import type { Deps } from '../deps.ts';
import { shownAsHeld } from '../freezes/freeze-enforcement.ts';

/** An open pull request that a freeze held when it was last judged. */
export type HeldPullRequest = {
  number: number;
  headSha: string;
  /** The ids of the freezes. */
  heldBy: string[];
  /** Whether GitHub shows it as held: its status is written. */
  isShown: boolean;
};

/** The held pull requests of a repository by number, as far as our own tables know: GitHub is not asked. */
export async function heldPullRequests(
  { db }: Pick<Deps, 'db'>,
  repositoryId: bigint,
): Promise<HeldPullRequest[]> {
  return db.$queryRaw<HeldPullRequest[]>`
    SELECT held.number, held.head_sha AS "headSha", held.held_by AS "heldBy",
      COALESCE(${shownAsHeld}, false) AS "isShown"
    FROM open_pull_requests held
    LEFT JOIN head_statuses head ON head.repository_id = held.repository_id AND head.sha = held.head_sha
    WHERE held.repository_id = ${repositoryId} AND cardinality(held.held_by) > 0
    ORDER BY held.number`;
}
