-- DropIndex
DROP INDEX "head_statuses_is_waiting_repository_id_not_before_urgency_idx";

-- DropIndex
DROP INDEX "repositories_installation_id_idx";

-- AlterTable
ALTER TABLE "head_statuses" ADD COLUMN     "installation_id" BIGINT,
ADD COLUMN     "is_merge_group" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "overwrites" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "waiting_since" TIMESTAMPTZ(3),
ADD COLUMN     "writes" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "written_at" TIMESTAMPTZ(3),
ADD COLUMN     "written_id" BIGINT;

-- AlterTable
ALTER TABLE "installations" ADD COLUMN     "pace_counted_at" TIMESTAMPTZ(3),
ADD COLUMN     "pace_tokens" DOUBLE PRECISION,
ADD COLUMN     "reads_paused_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "changed_at" TIMESTAMPTZ(3),
ADD COLUMN     "held_by" UUID[];

-- CreateTable
CREATE TABLE "merge_groups" (
    "repository_id" BIGINT NOT NULL,
    "head_sha" TEXT NOT NULL,
    "head_ref" TEXT,
    "branch" TEXT NOT NULL,
    "pull_requests" INTEGER[],
    "held_by" UUID[],
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "reading" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "merge_groups_pkey" PRIMARY KEY ("repository_id","head_sha")
);

-- CreateTable
CREATE TABLE "redeliveries" (
    "guid" TEXT NOT NULL,
    "delivery_id" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "redeliveries_pkey" PRIMARY KEY ("guid")
);

-- CreateTable
CREATE TABLE "delivery_scans" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "scanned_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_scans_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "redeliveries_due_at_idx" ON "redeliveries"("due_at");

-- CreateIndex
CREATE INDEX "redeliveries_seen_at_idx" ON "redeliveries"("seen_at");

-- CreateIndex
CREATE INDEX "head_statuses_installation_id_is_waiting_urgency_repository_idx" ON "head_statuses"("installation_id", "is_waiting", "urgency", "repository_id", "sha");

-- CreateIndex
CREATE INDEX "repositories_installation_id_refreshed_at_idx" ON "repositories"("installation_id", "refreshed_at");

-- AddForeignKey
ALTER TABLE "merge_groups" ADD CONSTRAINT "merge_groups_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Who writes the statuses that are known already.
UPDATE "head_statuses" SET "installation_id" = "repositories"."installation_id"
FROM "repositories" WHERE "repositories"."id" = "head_statuses"."repository_id";
