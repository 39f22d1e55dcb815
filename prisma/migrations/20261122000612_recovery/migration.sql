-- A record is saved with its answer: those of requests that never finished go.
DELETE FROM "idempotency_records" WHERE "answer" IS NULL;

-- AlterTable
ALTER TABLE "idempotency_records" RENAME COLUMN "started_at" TO "answered_at";
ALTER TABLE "idempotency_records" DROP COLUMN "completed_at",
DROP COLUMN "status",
ALTER COLUMN "answer" SET NOT NULL;

-- RenameIndex
ALTER INDEX "idempotency_records_started_at_idx" RENAME TO "idempotency_records_answered_at_idx";

-- AlterTable
ALTER TABLE "webhook_deliveries" ADD COLUMN     "is_lost" BOOLEAN NOT NULL DEFAULT false;

-- DropTable
DROP TABLE "redeliveries";
