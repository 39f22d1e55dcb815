-- AlterTable
ALTER TABLE "freeze_plans" ADD COLUMN     "source" JSONB,
ADD COLUMN     "source_due_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "freeze_plans_source_due_at_idx" ON "freeze_plans"("source_due_at");
