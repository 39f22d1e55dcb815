-- AlterTable
ALTER TABLE "freezes" ADD COLUMN     "restores" JSONB;
