-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "commit_title" TEXT;
