-- Freezes that are there count as told up to now. Those of versions before, which do not know the column, are looked at.
ALTER TABLE "freezes" ADD COLUMN "next_told_at" TIMESTAMPTZ(3);
UPDATE "freezes" SET "next_told_at" = least(
    CASE WHEN "starts_at" - interval '1 hour' > now() THEN "starts_at" - interval '1 hour' END,
    CASE WHEN "starts_at" > now() THEN "starts_at" END,
    CASE WHEN "ends_at" - interval '1 hour' > greatest("starts_at", now()) THEN "ends_at" - interval '1 hour' END,
    "ends_at")
WHERE "deleted_at" IS NULL AND ("ends_at" IS NULL OR "ends_at" > now());
ALTER TABLE "freezes" ALTER COLUMN "next_told_at" SET DEFAULT '1970-01-01 00:00:00 +00:00';

-- CreateIndex: only of freezes that are not deleted.
CREATE INDEX "freezes_next_told_at_idx" ON "freezes"("next_told_at") WHERE "deleted_at" IS NULL;

-- In the order in which they were saved.
ALTER TABLE "outgoing_deliveries" ADD COLUMN "serial" BIGSERIAL NOT NULL;

-- DropIndex
DROP INDEX "outgoing_deliveries_webhook_id_created_at_idx";

-- CreateIndex
CREATE INDEX "outgoing_deliveries_webhook_id_serial_idx" ON "outgoing_deliveries"("webhook_id", "serial");

-- CreateIndex: only of deliveries that nobody has tried yet. More events of their group join them.
CREATE UNIQUE INDEX "outgoing_deliveries_webhook_id_group_key_key" ON "outgoing_deliveries"("webhook_id", "group_key") WHERE "state" = 'waiting' AND "attempts" = 0;
