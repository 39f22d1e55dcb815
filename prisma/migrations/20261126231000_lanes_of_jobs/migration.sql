-- AlterTable
ALTER TABLE "jobs" ADD COLUMN     "lane" TEXT,
ADD COLUMN     "not_before" TIMESTAMPTZ(3);
