-- CreateIndex: beside readers and writers, so it is the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "audit_events_account_id_actor_key_id_idx" ON "audit_events"("account_id", "actor_key", "id");
