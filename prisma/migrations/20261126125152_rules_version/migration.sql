-- AlterTable
ALTER TABLE "repositories" ADD COLUMN     "rules_version" INTEGER NOT NULL DEFAULT 0;
