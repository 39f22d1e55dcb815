// The SHA alone finds the rows. `OFFSET 0` keeps the planner from looking for the repository too: as long as its
// statistics do not know a repository, it expects one row there, and reads all its pull requests by the primary key.
const pullRequestsBy = (column: string, sha: string, repositoryId: string): string => `
  SELECT * FROM (SELECT * FROM open_pull_requests WHERE ${column} = ${sha} OFFSET 0) known
  WHERE known.repository_id = ${repositoryId}`;

/**
 * SQL that selects the rows of the open pull requests of a repository with a SHA as head.
 * @param sha a parameter, or a column with the name of its table. @param repositoryId the same.
 */
export const pullRequestsWithHead = (sha: string, repositoryId: string): string =>
  pullRequestsBy('head_sha', sha, repositoryId);

/** Like `pullRequestsWithHead`, for a SHA as test merge commit. */
export const pullRequestsWithTestMerge = (sha: string, repositoryId: string): string =>
  pullRequestsBy('merge_sha', sha, repositoryId);

/** Like `pullRequestsWithHead`, for a SHA as head or test merge commit. */
export const pullRequestsAt = (sha: string, repositoryId: string): string =>
  `${pullRequestsWithHead(sha, repositoryId)} UNION ALL ${pullRequestsWithTestMerge(sha, repositoryId)}`;
