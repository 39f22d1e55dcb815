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
