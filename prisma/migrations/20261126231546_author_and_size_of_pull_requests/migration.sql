-- AlterTable
ALTER TABLE "open_pull_requests" ADD COLUMN     "added_lines" INTEGER,
ADD COLUMN     "author" TEXT,
ADD COLUMN     "deleted_lines" INTEGER;
