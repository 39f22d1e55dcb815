-- Writes of the same urgency go in the order in which they began to wait. The order was that of their repository and SHA:
-- while more came than the pace allowed, a commit whose SHA begins with "f" waited until all others were written.
-- Partial, because few of all heads wait. Prisma's schema names the same columns.
DROP INDEX "head_statuses_installation_id_is_waiting_urgency_repository_idx";
CREATE INDEX "head_statuses_installation_id_urgency_waiting_since_reposit_idx"
  ON "head_statuses"("installation_id", "urgency", "waiting_since", "repository_id", "sha") WHERE "is_waiting";
