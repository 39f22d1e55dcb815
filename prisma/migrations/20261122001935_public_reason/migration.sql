-- AlterTable
ALTER TABLE "freezes" ADD COLUMN     "has_public_reason" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "public_reason" TEXT;
