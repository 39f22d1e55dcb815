-- CreateTable
CREATE TABLE "kept_answers" (
    "id_hash" TEXT NOT NULL,
    "session_hash" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "kept_answers_pkey" PRIMARY KEY ("id_hash")
);

-- CreateIndex
CREATE INDEX "kept_answers_session_hash_created_at_idx" ON "kept_answers"("session_hash", "created_at");

-- CreateIndex
CREATE INDEX "kept_answers_expires_at_idx" ON "kept_answers"("expires_at");

-- AddForeignKey
ALTER TABLE "kept_answers" ADD CONSTRAINT "kept_answers_session_hash_fkey" FOREIGN KEY ("session_hash") REFERENCES "sessions"("id_hash") ON DELETE CASCADE ON UPDATE CASCADE;
