-- AlterTable
ALTER TABLE "freeze_plans" ADD COLUMN     "changes" JSONB;
