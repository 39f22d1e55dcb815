-- AlterTable
ALTER TABLE "freeze_waits" ADD COLUMN     "refused" BOOLEAN;
