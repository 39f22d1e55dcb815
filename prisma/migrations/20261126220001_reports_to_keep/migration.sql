-- CreateIndex: beside readers and writers, so it is the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "freezes_report_due_at_idx" ON "freezes"("report_due_at") WHERE "report_due_at" IS NOT NULL;
