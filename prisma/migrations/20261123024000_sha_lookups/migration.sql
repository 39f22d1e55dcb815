-- A new database has no statistics. Without them, the planner took every index that begins with the repository to be as
-- good as the right one, and read all pull requests or all heads of a repository for each question.
DROP INDEX "open_pull_requests_repository_id_head_sha_idx";
DROP INDEX "open_pull_requests_repository_id_merge_sha_idx";
CREATE INDEX "open_pull_requests_head_sha_repository_id_idx" ON "open_pull_requests"("head_sha", "repository_id");
CREATE INDEX "open_pull_requests_merge_sha_repository_id_idx" ON "open_pull_requests"("merge_sha", "repository_id");

-- Prisma does not know partial indexes: its schema names the same columns. Few heads are those of closed pull requests.
DROP INDEX "head_statuses_repository_id_closed_number_idx";
CREATE INDEX "head_statuses_repository_id_closed_number_idx" ON "head_statuses"("repository_id", "closed_number")
  WHERE "closed_number" IS NOT NULL;
