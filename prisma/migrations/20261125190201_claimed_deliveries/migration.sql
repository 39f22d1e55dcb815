-- AlterTable
ALTER TABLE "outgoing_deliveries" ADD COLUMN "claimed_until" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "outgoing_webhooks" ADD COLUMN "paused_until" TIMESTAMPTZ(3);

-- DropIndex
DROP INDEX "outgoing_deliveries_webhook_id_next_attempt_at_idx";

-- CreateIndex: only of deliveries that are not over, which are few.
CREATE INDEX "outgoing_deliveries_webhook_id_next_attempt_at_idx" ON "outgoing_deliveries"("webhook_id", "next_attempt_at") WHERE "next_attempt_at" IS NOT NULL;
