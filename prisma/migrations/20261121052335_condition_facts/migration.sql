-- AlterTable
ALTER TABLE "freezes" ADD COLUMN     "reads" TEXT[];

-- AlterTable
ALTER TABLE "repositories" ADD COLUMN     "next_change_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "repositories_next_change_at_idx" ON "repositories"("next_change_at");

-- What the first version's conditions could read.
UPDATE "freezes" SET "reads" = ARRAY['files', 'labels', 'scopes'];
