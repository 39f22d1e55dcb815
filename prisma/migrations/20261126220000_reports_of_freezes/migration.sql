-- AlterTable
ALTER TABLE "freezes" ADD COLUMN "report_due_at" TIMESTAMPTZ(3) DEFAULT '1970-01-01 00:00:00 +00:00';

-- CreateTable
CREATE TABLE "freeze_waits" (
    "freeze_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "seconds" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "until" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "freeze_waits_pkey" PRIMARY KEY ("freeze_id","number")
);

-- CreateTable
CREATE TABLE "freeze_reports" (
    "freeze_id" UUID NOT NULL,
    "repository_id" BIGINT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "report" JSONB NOT NULL,

    CONSTRAINT "freeze_reports_pkey" PRIMARY KEY ("freeze_id")
);

-- CreateIndex
CREATE INDEX "freeze_waits_repository_id_number_idx" ON "freeze_waits"("repository_id", "number");

-- CreateIndex
CREATE INDEX "freeze_waits_until_idx" ON "freeze_waits"("until");

-- CreateIndex
CREATE INDEX "freeze_reports_repository_id_ended_at_idx" ON "freeze_reports"("repository_id", "ended_at");

-- AddForeignKey
ALTER TABLE "freeze_waits" ADD CONSTRAINT "freeze_waits_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "freeze_reports" ADD CONSTRAINT "freeze_reports_repository_id_fkey" FOREIGN KEY ("repository_id") REFERENCES "repositories"("id") ON DELETE CASCADE ON UPDATE CASCADE;
