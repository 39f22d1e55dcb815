-- AlterTable
ALTER TABLE "installations" ADD COLUMN     "review_pace" JSONB;
