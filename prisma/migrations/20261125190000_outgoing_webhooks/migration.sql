-- CreateTable
CREATE TABLE "outgoing_webhooks" (
    "id" UUID NOT NULL,
    "account_id" BIGINT NOT NULL,
    "kind" TEXT NOT NULL,
    "sealed_url" TEXT NOT NULL,
    "shown_url" TEXT NOT NULL,
    "repositories" TEXT[],
    "repository_pattern" TEXT,
    "events" TEXT[],
    "public_text" BOOLEAN NOT NULL DEFAULT false,
    "description" TEXT,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_why" TEXT,
    "disabled_at" TIMESTAMPTZ(3),
    "sealed_secret" TEXT,
    "sealed_previous_secret" TEXT,
    "previous_secret_until" TIMESTAMPTZ(3),
    "slack_team" TEXT,
    "slack_channel" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,

    CONSTRAINT "outgoing_webhooks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outgoing_deliveries" (
    "id" UUID NOT NULL,
    "webhook_id" UUID NOT NULL,
    "event_ids" BIGINT[],
    "type" TEXT NOT NULL,
    "subject" TEXT,
    "group_key" TEXT,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "status" INTEGER,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_attempt_at" TIMESTAMPTZ(3),
    "next_attempt_at" TIMESTAMPTZ(3),
    "message_id" TEXT,

    CONSTRAINT "outgoing_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "outgoing_webhooks_account_id_idx" ON "outgoing_webhooks"("account_id");

-- CreateIndex
CREATE INDEX "outgoing_deliveries_webhook_id_next_attempt_at_idx" ON "outgoing_deliveries"("webhook_id", "next_attempt_at");

-- CreateIndex
CREATE INDEX "outgoing_deliveries_webhook_id_created_at_idx" ON "outgoing_deliveries"("webhook_id", "created_at");

-- CreateIndex
CREATE INDEX "outgoing_deliveries_created_at_idx" ON "outgoing_deliveries"("created_at");

-- AddForeignKey
ALTER TABLE "outgoing_webhooks" ADD CONSTRAINT "outgoing_webhooks_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "outgoing_deliveries" ADD CONSTRAINT "outgoing_deliveries_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "outgoing_webhooks"("id") ON DELETE CASCADE ON UPDATE CASCADE;
