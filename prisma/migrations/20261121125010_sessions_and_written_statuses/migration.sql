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
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id_hash")
);

-- CreateIndex
CREATE INDEX "sessions_person_id_idx" ON "sessions"("person_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- AddForeignKey
ALTER TABLE "written_statuses" ADD CONSTRAINT "written_statuses_repository_id_sha_fkey" FOREIGN KEY ("repository_id", "sha") REFERENCES "head_statuses"("repository_id", "sha") ON DELETE CASCADE ON UPDATE CASCADE;
