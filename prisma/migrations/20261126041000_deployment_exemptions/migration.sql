-- AlterTable
ALTER TABLE "exemptions" ADD COLUMN     "attempt" INTEGER,
ADD COLUMN     "environment" TEXT,
ADD COLUMN     "run_id" BIGINT;
