-- AlterTable
ALTER TABLE "head_statuses" ADD COLUMN IF NOT EXISTS "not_held" TEXT;
