-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "templates" JSONB NOT NULL DEFAULT '[]';
