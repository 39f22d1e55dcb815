-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "leaking_since" TIMESTAMPTZ(3),
ADD COLUMN     "merge_state" TEXT,
ADD COLUMN     "merge_state_asks" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "merge_state_due_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "open_pull_requests_merge_state_due_at_idx" ON "open_pull_requests"("merge_state_due_at");

-- GitHub is asked about what freezes hold already, too.
UPDATE "open_pull_requests" SET "merge_state_due_at" = now() WHERE cardinality("held_by") > 0;
