-- What a write changes, and whose fork its head is in: a more urgent tier goes first, and within a tier repositories take
-- turns, and within a repository the owners of heads. Strictly by urgency, a stranger who pushed without end kept all
-- others waiting. What waits now counts as the most urgent until its repository is judged again.
ALTER TABLE "head_statuses" ADD COLUMN "tier" INTEGER NOT NULL DEFAULT 1, ADD COLUMN "head_owner" TEXT NOT NULL DEFAULT '';
-- Whose writes came last.
ALTER TABLE "installations" ADD COLUMN "write_turns" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
-- Partial, because few of all heads wait. Prisma's schema names the same columns.
DROP INDEX "head_statuses_installation_id_urgency_waiting_since_reposit_idx";
CREATE INDEX "head_statuses_installation_id_tier_repository_id_head_owner_idx"
  ON "head_statuses"("installation_id", "tier", "repository_id", "head_owner", "urgency", "waiting_since", "sha")
  WHERE "is_waiting";
