-- CreateIndex: beside readers and writers, so it is the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_events_account_id_type_id_idx" ON "audit_events"("account_id", "type", "id");
