-- AlterTable
ALTER TABLE "audit_events" ADD COLUMN     "actor_key" TEXT;

-- Who acted stands in the metadata, as `created_by`, `deleted_by`, …
UPDATE "audit_events" SET "actor_key" = (
  SELECT CASE WHEN who->>'type' = 'user' THEN '@' || lower(who->>'name')
    WHEN who->>'id' = 'holdfast' THEN coalesce("metadata"->>'freeze_plan_id', 'holdfast') ELSE who->>'id' END
  FROM jsonb_each("metadata") AS each (key, who)
  WHERE key LIKE '%\_by' AND jsonb_typeof(who) = 'object'
  LIMIT 1
) WHERE jsonb_typeof("metadata") = 'object';

-- CreateIndex
CREATE INDEX "audit_events_account_id_type_id_idx" ON "audit_events"("account_id", "type", "id");

-- CreateIndex
CREATE INDEX "audit_events_account_id_actor_key_id_idx" ON "audit_events"("account_id", "actor_key", "id");
