-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "base_ref" TEXT,
ADD COLUMN     "head_ref" TEXT;

-- CreateTable
CREATE TABLE "instant_holds" (
    "repository_id" BIGINT NOT NULL,
    "installation_id" BIGINT,
    "ruleset_id" BIGINT,
    "context" TEXT,
    "since" TIMESTAMPTZ(3),
    "freezes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "branches" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "settled" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "observation" BIGINT NOT NULL DEFAULT 0,
    "judged" BIGINT NOT NULL DEFAULT 0,
    "bypass" JSONB NOT NULL DEFAULT '[]',
    "error" TEXT,
    "checked_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3),
    "lease_holder" UUID,

    CONSTRAINT "instant_holds_pkey" PRIMARY KEY ("repository_id")
);

-- CreateTable
CREATE TABLE "instant_passes" (
    "repository_id" BIGINT NOT NULL,
    "sha" TEXT NOT NULL,
    "context" TEXT NOT NULL,
    "state" TEXT NOT NULL,

    CONSTRAINT "instant_passes_pkey" PRIMARY KEY ("repository_id","sha")
);

-- CreateIndex
CREATE INDEX "instant_holds_installation_id_idx" ON "instant_holds"("installation_id");

-- CreateIndex
CREATE INDEX "instant_holds_checked_at_idx" ON "instant_holds"("checked_at");

-- AddForeignKey
ALTER TABLE "instant_holds" ADD CONSTRAINT "instant_holds_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "instant_passes" ADD CONSTRAINT "instant_passes_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;
