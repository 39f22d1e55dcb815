-- AlterTable
ALTER TABLE "freeze_reports" ADD COLUMN     "emptied" INTEGER[],
ADD COLUMN     "waited" INTEGER[];
