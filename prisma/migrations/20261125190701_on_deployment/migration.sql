-- AlterTable
ALTER TABLE "freeze_plans" ADD COLUMN     "on_deployment" TEXT NOT NULL DEFAULT 'wait';

-- AlterTable
ALTER TABLE "freezes" ADD COLUMN     "on_deployment" TEXT;
