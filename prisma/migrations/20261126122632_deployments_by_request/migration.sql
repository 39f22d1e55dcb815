-- DropIndex
DROP INDEX "deployments_repository_id_serial_idx";

-- CreateIndex
CREATE INDEX "deployments_repository_id_requested_at_serial_idx" ON "deployments"("repository_id", "requested_at", "serial");
