-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "check_counts" INTEGER[] DEFAULT ARRAY[]::INTEGER[];
