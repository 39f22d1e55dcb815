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
CREATE INDEX "minute_counts_minute_idx" ON "minute_counts"("minute");

-- CreateIndex
CREATE INDEX "known_credentials_good_at_idx" ON "known_credentials"("good_at");

-- CreateIndex
CREATE INDEX "used_sign_ins_expires_at_idx" ON "used_sign_ins"("expires_at");
