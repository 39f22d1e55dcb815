-- CreateEnum
CREATE TYPE "Product" AS ENUM ('ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue');

-- CreateEnum
CREATE TYPE "KeyScope" AS ENUM ('admin', 'ci');

-- CreateTable
CREATE TABLE "accounts" (
    "id" BIGINT NOT NULL,
    "login" TEXT NOT NULL,
    "login_key" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "default_products" "Product"[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "installations" (
    "id" BIGINT NOT NULL,
    "account_id" BIGINT NOT NULL,
    "permissions" JSONB NOT NULL,
    "suspended_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "paused_until" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "lease_holder" UUID,

    CONSTRAINT "installations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "repositories" (
    "id" BIGINT NOT NULL,
    "account_id" BIGINT NOT NULL,
    "installation_id" BIGINT,
    "name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "private" BOOLEAN NOT NULL,
    "archived" BOOLEAN NOT NULL,
    "products" "Product"[],
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "refresh_requested_at" TIMESTAMPTZ(3),
    "refreshed_at" TIMESTAMPTZ(3),
    "first_status_at" TIMESTAMPTZ(3),
    "readings" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "repositories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "freezes" (
    "id" UUID NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "start" TEXT NOT NULL,
    "end" TEXT,
    "timezone" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "matching_conditions" JSONB NOT NULL,
    "exclude_conditions" JSONB NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_by" JSONB NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "deleted_by" JSONB,
    "delete_reason" TEXT,

    CONSTRAINT "freezes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "open_pull_requests" (
    "repository_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "head_sha" TEXT NOT NULL,
    "reading" BIGINT NOT NULL,

    CONSTRAINT "open_pull_requests_pkey" PRIMARY KEY ("repository_id","number")
);

-- CreateTable
CREATE TABLE "pull_request_scopes" (
    "repository_id" BIGINT NOT NULL,
    "number" DECIMAL(19,0) NOT NULL,
    "scopes" TEXT[],
    "all_scopes" BOOLEAN NOT NULL,
    "pushed_at" TIMESTAMPTZ(3) NOT NULL,
    "pushed_by" JSONB NOT NULL,

    CONSTRAINT "pull_request_scopes_pkey" PRIMARY KEY ("repository_id","number")
);

-- CreateTable
CREATE TABLE "head_statuses" (
    "repository_id" BIGINT NOT NULL,
    "sha" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "reading" BIGINT NOT NULL,
    "is_waiting" BOOLEAN NOT NULL,
    "urgency" INTEGER NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "written_state" TEXT,
    "written_description" TEXT,
    "written_during" BIGINT,

    CONSTRAINT "head_statuses_pkey" PRIMARY KEY ("repository_id","sha")
);

-- CreateTable
CREATE TABLE "application_keys" (
    "id" UUID NOT NULL,
    "account_id" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "scope" "KeyScope" NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" JSONB,

    CONSTRAINT "application_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_events" (
    "id" BIGSERIAL NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "account_id" BIGINT NOT NULL,
    "repository_id" BIGINT,
    "repository" TEXT,
    "pull_request" DECIMAL(19,0),
    "base_ref" TEXT,
    "type" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "trigger" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,

    CONSTRAINT "audit_events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_records" (
    "caller" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "answer" TEXT,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("caller","request","key")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "guid" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("guid")
);

-- CreateIndex
CREATE INDEX "accounts_login_key_idx" ON "accounts"("login_key");

-- CreateIndex
CREATE INDEX "installations_account_id_idx" ON "installations"("account_id");

-- CreateIndex
CREATE INDEX "repositories_account_id_name_key_idx" ON "repositories"("account_id", "name_key");

-- CreateIndex
CREATE INDEX "repositories_installation_id_idx" ON "repositories"("installation_id");

-- CreateIndex
CREATE INDEX "repositories_refresh_requested_at_idx" ON "repositories"("refresh_requested_at");

-- CreateIndex
CREATE INDEX "freezes_repository_id_deleted_at_ends_at_idx" ON "freezes"("repository_id", "deleted_at", "ends_at");

-- CreateIndex
CREATE INDEX "freezes_starts_at_idx" ON "freezes"("starts_at");

-- CreateIndex
CREATE INDEX "freezes_ends_at_idx" ON "freezes"("ends_at");

-- CreateIndex
CREATE INDEX "open_pull_requests_repository_id_head_sha_idx" ON "open_pull_requests"("repository_id", "head_sha");

-- CreateIndex
CREATE INDEX "head_statuses_is_waiting_repository_id_not_before_urgency_idx" ON "head_statuses"("is_waiting", "repository_id", "not_before", "urgency");

-- CreateIndex
CREATE UNIQUE INDEX "application_keys_secret_hash_key" ON "application_keys"("secret_hash");

-- CreateIndex
CREATE INDEX "application_keys_account_id_idx" ON "application_keys"("account_id");

-- CreateIndex
CREATE INDEX "audit_events_repository_id_received_at_id_idx" ON "audit_events"("repository_id", "received_at", "id");

-- CreateIndex
CREATE INDEX "audit_events_account_id_received_at_idx" ON "audit_events"("account_id", "received_at");

-- CreateIndex
CREATE INDEX "audit_events_received_at_idx" ON "audit_events"("received_at");

-- CreateIndex
CREATE INDEX "idempotency_records_started_at_idx" ON "idempotency_records"("started_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_received_at_idx" ON "webhook_deliveries"("received_at");

-- AddForeignKey
ALTER TABLE "installations" ADD CONSTRAINT "installations_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_installation_id_fkey" FOREIGN KEY ("installation_id") REFERENCES "installations"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "open_pull_requests" ADD CONSTRAINT "open_pull_requests_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pull_request_scopes" ADD CONSTRAINT "pull_request_scopes_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "head_statuses" ADD CONSTRAINT "head_statuses_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_keys" ADD CONSTRAINT "application_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
