-- AlterTable
ALTER TABLE "repositories" ADD COLUMN     "deployments_checked_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "deployments" (
    "serial" BIGSERIAL NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "run_id" BIGINT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "environment_key" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "workflow" TEXT NOT NULL,
    "workflow_path" TEXT NOT NULL,
    "run_number" INTEGER NOT NULL,
    "ref" TEXT NOT NULL,
    "sha" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "freeze_ids" UUID[] DEFAULT ARRAY[]::UUID[],
    "attempted" TEXT,
    "reports" INTEGER NOT NULL DEFAULT 0,
    "report" TEXT,
    "claimed_until" TIMESTAMPTZ(3),
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_at" TIMESTAMPTZ(3),

    CONSTRAINT "deployments_pkey" PRIMARY KEY ("repository_id","run_id","attempt","environment_key")
);

-- CreateIndex
CREATE UNIQUE INDEX "deployments_serial_key" ON "deployments"("serial");

-- CreateIndex
CREATE INDEX "deployments_repository_id_state_idx" ON "deployments"("repository_id", "state");

-- CreateIndex
CREATE INDEX "deployments_repository_id_serial_idx" ON "deployments"("repository_id", "serial");

-- CreateIndex
CREATE INDEX "deployments_decided_at_idx" ON "deployments"("decided_at");

-- CreateIndex
CREATE INDEX "repositories_installation_id_deployments_checked_at_idx" ON "repositories"("installation_id", "deployments_checked_at");

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
