-- AlterTable
ALTER TABLE "head_statuses" ADD COLUMN     "contradicted_by" BIGINT,
ADD COLUMN     "counted_id" BIGINT,
ADD COLUMN     "is_final" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "not_held" TEXT,
ADD COLUMN     "not_held_told" TEXT,
ADD COLUMN     "repeat_after" TIMESTAMPTZ(3),
ADD COLUMN     "times_written" INTEGER NOT NULL DEFAULT 0;
