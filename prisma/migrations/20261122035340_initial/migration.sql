-- CreateEnum
CREATE TYPE "Product" AS ENUM ('ci_insights', 'merge_protections', 'workflow_automation', 'merge_queue');

-- CreateEnum
CREATE TYPE "KeyScope" AS ENUM ('admin', 'ci');

-- CreateEnum
CREATE TYPE "ExemptionState" AS ENUM ('requested', 'approved', 'denied', 'revoked', 'expired', 'used');

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
    "reads_paused_until" TIMESTAMPTZ(3),
    "pace_per_minute" DOUBLE PRECISION,
    "pace_tokens" DOUBLE PRECISION,
    "pace_counted_at" TIMESTAMPTZ(3),
    "pace_refused" DOUBLE PRECISION,
    "pace_refused_at" TIMESTAMPTZ(3),
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
    "reconcile_requested_at" TIMESTAMPTZ(3),
    "reconciled_at" TIMESTAMPTZ(3),
    "first_status_at" TIMESTAMPTZ(3),
    "next_change_at" TIMESTAMPTZ(3),
    "observations" BIGINT NOT NULL DEFAULT 0,
    "closed_judged_by" TEXT NOT NULL DEFAULT '',
    "two_person_exemptions" BOOLEAN NOT NULL DEFAULT false,
    "longest_open_end_hours" INTEGER,
    "comment_commands" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "repositories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "freezes" (
    "id" UUID NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "reason" TEXT NOT NULL,
    "public_reason" TEXT,
    "has_public_reason" BOOLEAN NOT NULL DEFAULT false,
    "start" TEXT NOT NULL,
    "end" TEXT,
    "timezone" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "matching_conditions" JSONB NOT NULL,
    "exclude_conditions" JSONB NOT NULL,
    "reads" TEXT[],
    "holds" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "environments" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "is_pause" BOOLEAN NOT NULL DEFAULT false,
    "still_on_told_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_by" JSONB NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "deleted_by" JSONB,
    "delete_reason" TEXT,
    "plan_id" UUID,
    "occurrence" TEXT,
    "detached" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "freezes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "exemptions" (
    "id" UUID NOT NULL,
    "serial" BIGSERIAL NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "head_sha" TEXT NOT NULL,
    "head_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "any_head" BOOLEAN NOT NULL,
    "base_ref" TEXT NOT NULL,
    "freeze_ids" UUID[],
    "reason" TEXT NOT NULL,
    "public_reason" TEXT,
    "state" "ExemptionState" NOT NULL,
    "requested_by" JSONB NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "decided_by" JSONB,
    "decided_at" TIMESTAMPTZ(3),
    "decision_reason" TEXT,
    "approved_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "ended_by" TEXT,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "exemptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "comment_answers" (
    "comment_id" BIGINT NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "person_id" BIGINT NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "done" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "answer" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "is_settled" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "comment_answers_pkey" PRIMARY KEY ("comment_id")
);

-- CreateTable
CREATE TABLE "freeze_plans" (
    "id" UUID NOT NULL,
    "account_id" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "public_reason" TEXT,
    "include" TEXT[],
    "exclude" TEXT[],
    "start" TEXT NOT NULL,
    "end" TEXT,
    "timezone" TEXT NOT NULL,
    "rule" TEXT,
    "except" TEXT[],
    "until" TEXT,
    "matching_conditions" JSONB NOT NULL,
    "exclude_conditions" JSONB NOT NULL,
    "holds" TEXT[],
    "environments" TEXT[],
    "over_at" TIMESTAMPTZ(3),
    "kept_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_by" JSONB NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "deleted_by" JSONB,
    "delete_reason" TEXT,

    CONSTRAINT "freeze_plans_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "open_pull_requests" (
    "repository_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "node_id" TEXT NOT NULL,
    "head_sha" TEXT NOT NULL,
    "title" TEXT,
    "merge_sha" TEXT,
    "held_by" UUID[],
    "changed_at" TIMESTAMPTZ(3),
    "observation" BIGINT NOT NULL,
    "merge_state_due_at" TIMESTAMPTZ(3),
    "merge_state" TEXT,
    "merge_state_asks" INTEGER NOT NULL DEFAULT 0,
    "leaking_since" TIMESTAMPTZ(3),

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
CREATE TABLE "merge_groups" (
    "repository_id" BIGINT NOT NULL,
    "head_sha" TEXT NOT NULL,
    "head_ref" TEXT,
    "branch" TEXT NOT NULL,
    "pull_requests" INTEGER[],
    "held_by" UUID[],
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "observation" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "merge_groups_pkey" PRIMARY KEY ("repository_id","head_sha")
);

-- CreateTable
CREATE TABLE "head_statuses" (
    "repository_id" BIGINT NOT NULL,
    "sha" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "observation" BIGINT NOT NULL,
    "installation_id" BIGINT,
    "is_merge_group" BOOLEAN NOT NULL DEFAULT false,
    "closed_number" INTEGER,
    "is_waiting" BOOLEAN NOT NULL,
    "waiting_since" TIMESTAMPTZ(3),
    "urgency" INTEGER NOT NULL,
    "not_before" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "written_state" TEXT,
    "written_description" TEXT,
    "written_during" BIGINT,
    "written_id" BIGINT,
    "written_at" TIMESTAMPTZ(3),
    "writes" INTEGER NOT NULL DEFAULT 0,
    "overwrites" INTEGER NOT NULL DEFAULT 0,
    "counted_id" BIGINT,
    "contradicted_by" BIGINT,
    "times_written" INTEGER NOT NULL DEFAULT 0,
    "repeat_after" TIMESTAMPTZ(3),
    "is_final" BOOLEAN NOT NULL DEFAULT false,
    "not_held" TEXT,
    "not_held_told" TEXT,

    CONSTRAINT "head_statuses_pkey" PRIMARY KEY ("repository_id","sha")
);

-- CreateTable
CREATE TABLE "written_statuses" (
    "repository_id" BIGINT NOT NULL,
    "sha" TEXT NOT NULL,
    "id" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "written_statuses_pkey" PRIMARY KEY ("repository_id","sha","id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id_hash" TEXT NOT NULL,
    "person_id" BIGINT NOT NULL,
    "login" TEXT NOT NULL,
    "installation_ids" BIGINT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id_hash")
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
    "last_used_at" TIMESTAMPTZ(3),
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
    "answer" TEXT NOT NULL,
    "answered_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("caller","request","key")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "guid" TEXT NOT NULL,
    "event" TEXT NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "is_lost" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("guid")
);

-- CreateTable
CREATE TABLE "delivery_scans" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "scanned_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "delivery_scans_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app_credentials" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "app_id" BIGINT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "html_url" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "private_key" TEXT NOT NULL,
    "webhook_secret" TEXT NOT NULL,
    "client_secret" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_credentials_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "minute_counts" (
    "name" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "minute_counts_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "known_credentials" (
    "hash" TEXT NOT NULL,
    "good_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "known_credentials_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "used_sign_ins" (
    "state_hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_sign_ins_pkey" PRIMARY KEY ("state_hash")
);

-- CreateIndex
CREATE INDEX "accounts_login_key_idx" ON "accounts"("login_key");

-- CreateIndex
CREATE INDEX "installations_account_id_idx" ON "installations"("account_id");

-- CreateIndex
CREATE INDEX "repositories_account_id_name_key_idx" ON "repositories"("account_id", "name_key");

-- CreateIndex
CREATE INDEX "repositories_installation_id_reconciled_at_idx" ON "repositories"("installation_id", "reconciled_at");

-- CreateIndex
CREATE INDEX "repositories_reconcile_requested_at_idx" ON "repositories"("reconcile_requested_at");

-- CreateIndex
CREATE INDEX "repositories_next_change_at_idx" ON "repositories"("next_change_at");

-- CreateIndex
CREATE INDEX "freezes_repository_id_deleted_at_ends_at_idx" ON "freezes"("repository_id", "deleted_at", "ends_at");

-- CreateIndex
CREATE INDEX "freezes_starts_at_idx" ON "freezes"("starts_at");

-- CreateIndex
CREATE INDEX "freezes_ends_at_idx" ON "freezes"("ends_at");

-- CreateIndex
CREATE INDEX "exemptions_repository_id_ended_at_idx" ON "exemptions"("repository_id", "ended_at");

-- CreateIndex
CREATE INDEX "exemptions_repository_id_serial_idx" ON "exemptions"("repository_id", "serial");

-- CreateIndex
CREATE INDEX "exemptions_ended_at_expires_at_idx" ON "exemptions"("ended_at", "expires_at");

-- CreateIndex
CREATE INDEX "comment_answers_person_id_taken_at_idx" ON "comment_answers"("person_id", "taken_at");

-- CreateIndex
CREATE INDEX "comment_answers_taken_at_idx" ON "comment_answers"("taken_at");

-- CreateIndex
CREATE UNIQUE INDEX "freezes_plan_id_repository_id_occurrence_key" ON "freezes"("plan_id", "repository_id", "occurrence");

-- CreateIndex
CREATE INDEX "freeze_plans_account_id_deleted_at_idx" ON "freeze_plans"("account_id", "deleted_at");

-- CreateIndex
CREATE INDEX "freeze_plans_kept_at_idx" ON "freeze_plans"("kept_at");

-- CreateIndex
CREATE INDEX "open_pull_requests_repository_id_head_sha_idx" ON "open_pull_requests"("repository_id", "head_sha");

-- CreateIndex
CREATE INDEX "open_pull_requests_repository_id_merge_sha_idx" ON "open_pull_requests"("repository_id", "merge_sha");

-- CreateIndex
CREATE INDEX "open_pull_requests_merge_state_due_at_idx" ON "open_pull_requests"("merge_state_due_at");

-- CreateIndex
CREATE INDEX "head_statuses_installation_id_is_waiting_urgency_repository_idx" ON "head_statuses"("installation_id", "is_waiting", "urgency", "repository_id", "sha");

-- CreateIndex
CREATE INDEX "head_statuses_repository_id_closed_number_idx" ON "head_statuses"("repository_id", "closed_number");

-- CreateIndex
CREATE INDEX "sessions_person_id_idx" ON "sessions"("person_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

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
CREATE INDEX "idempotency_records_answered_at_idx" ON "idempotency_records"("answered_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_received_at_idx" ON "webhook_deliveries"("received_at");

-- CreateIndex
CREATE INDEX "minute_counts_minute_idx" ON "minute_counts"("minute");

-- CreateIndex
CREATE INDEX "known_credentials_good_at_idx" ON "known_credentials"("good_at");

-- CreateIndex
CREATE INDEX "used_sign_ins_expires_at_idx" ON "used_sign_ins"("expires_at");

-- AddForeignKey
ALTER TABLE "installations" ADD CONSTRAINT "installations_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "repositories" ADD CONSTRAINT "repositories_installation_id_fkey" FOREIGN KEY ("installation_id") REFERENCES "installations"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "exemptions" ADD CONSTRAINT "exemptions_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "comment_answers" ADD CONSTRAINT "comment_answers_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freezes" ADD CONSTRAINT "freezes_plan_id_fkey" FOREIGN KEY ("plan_id") REFERENCES "freeze_plans"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freeze_plans" ADD CONSTRAINT "freeze_plans_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "open_pull_requests" ADD CONSTRAINT "open_pull_requests_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pull_request_scopes" ADD CONSTRAINT "pull_request_scopes_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merge_groups" ADD CONSTRAINT "merge_groups_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "head_statuses" ADD CONSTRAINT "head_statuses_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "written_statuses" ADD CONSTRAINT "written_statuses_repository_id_sha_fkey" FOREIGN KEY ("repository_id", "sha") REFERENCES "head_statuses"("repository_id", "sha") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "application_keys" ADD CONSTRAINT "application_keys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
