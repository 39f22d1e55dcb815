-- AlterTable
ALTER TABLE "head_statuses" ADD COLUMN     "closed_number" INTEGER;

-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "merge_sha" TEXT;

-- AlterTable
ALTER TABLE "repositories" ADD COLUMN     "closed_judged_by" TEXT NOT NULL DEFAULT '';

-- CreateIndex
CREATE INDEX "open_pull_requests_repository_id_merge_sha_idx" ON "open_pull_requests"("repository_id", "merge_sha");
