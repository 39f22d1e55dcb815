-- CreateTable
CREATE TABLE "slack_apps" (
    "id" UUID NOT NULL,
    "account_id" BIGINT NOT NULL,
    "team_id" TEXT NOT NULL,
    "team_name" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "bot_token" TEXT NOT NULL,
    "signing_secret" TEXT,
    "app_token" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,

    CONSTRAINT "slack_apps_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "slack_links" (
    "app" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "person_id" BIGINT NOT NULL,
    "login" TEXT NOT NULL,
    "user_name" TEXT NOT NULL,
    "team_name" TEXT NOT NULL,
    "wants_messages" BOOLEAN NOT NULL DEFAULT true,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "slack_links_pkey" PRIMARY KEY ("app","team_id","user_id")
);

-- CreateTable
CREATE TABLE "slack_offers" (
    "token_hash" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "user_name" TEXT NOT NULL,
    "team_name" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "slack_offers_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "slack_requests" (
    "id" TEXT NOT NULL,
    "app" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "channel_id" TEXT,
    "response_url" TEXT,
    "asked" JSONB NOT NULL,
    "received_at" TIMESTAMPTZ(3) NOT NULL,
    "noted" JSONB,
    "answer" JSONB,
    "replies" INTEGER NOT NULL DEFAULT 0,
    "is_settled" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "slack_requests_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "slack_apps_account_id_key" ON "slack_apps"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "slack_apps_team_id_bot_id_key" ON "slack_apps"("team_id", "bot_id");

-- CreateIndex
CREATE INDEX "slack_links_person_id_idx" ON "slack_links"("person_id");

-- CreateIndex
CREATE INDEX "slack_offers_expires_at_idx" ON "slack_offers"("expires_at");

-- CreateIndex
CREATE INDEX "slack_requests_app_team_id_user_id_received_at_idx" ON "slack_requests"("app", "team_id", "user_id", "received_at");

-- CreateIndex
CREATE INDEX "slack_requests_received_at_idx" ON "slack_requests"("received_at");

-- AddForeignKey
ALTER TABLE "slack_apps" ADD CONSTRAINT "slack_apps_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "slack_tellings" (
    "freeze_id" UUID NOT NULL,
    "app" TEXT NOT NULL,
    "team_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "pull_requests" INTEGER[],
    "began_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "slack_tellings_pkey" PRIMARY KEY ("freeze_id","app","team_id","user_id")
);

-- CreateIndex
CREATE INDEX "slack_tellings_created_at_idx" ON "slack_tellings"("created_at");

-- CreateIndex: one webhook of an owner tells its people.
CREATE UNIQUE INDEX "outgoing_webhooks_account_id_people_key" ON "outgoing_webhooks"("account_id") WHERE "kind" = 'slack_people';
