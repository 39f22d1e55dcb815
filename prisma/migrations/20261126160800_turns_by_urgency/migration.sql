-- The writer steps from repository to repository in this order, and stops when it has enough. Partial, as the index by
-- share is. Prisma's schema names the same columns. Beside readers and writers, so it is the only statement.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "head_statuses_installation_id_tier_urgency_repository_id_idx"
  ON "head_statuses"("installation_id", "tier", "urgency", "repository_id")
  WHERE "is_waiting";
