-- CreateTable
CREATE TABLE "oidc_rules" (
    "id" UUID NOT NULL,
    "account_id" BIGINT NOT NULL,
    "name" TEXT NOT NULL,
    "repositories" TEXT[],
    "refs" TEXT[],
    "environments" TEXT[],
    "may" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" JSONB NOT NULL,
    "key_id" UUID,

    CONSTRAINT "oidc_rules_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "oidc_rules_account_id_idx" ON "oidc_rules"("account_id");

-- AddForeignKey
ALTER TABLE "oidc_rules" ADD CONSTRAINT "oidc_rules_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oidc_rules" ADD CONSTRAINT "oidc_rules_key_id_fkey" FOREIGN KEY ("key_id") REFERENCES "application_keys"("id") ON DELETE CASCADE ON UPDATE CASCADE;
