-- AlterTable
ALTER TABLE "deployments" ADD COLUMN "started_by" TEXT;
