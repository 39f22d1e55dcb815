-- When the conversation was told of a request, by GitHub's clock: an approval without a commit takes only what was there
-- to be read.
ALTER TABLE "exemptions" ADD COLUMN "announced_at" TIMESTAMPTZ(3);
-- Where a command was written, and whether by somebody who cannot write to the repository: those get few answers.
-- The request that an answer announces.
ALTER TABLE "comment_answers" ADD COLUMN "number" INTEGER, ADD COLUMN "is_outsider" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "announces" UUID;
-- A limit on comments stops comments alone.
ALTER TABLE "installations" ADD COLUMN "comments_paused_until" TIMESTAMPTZ(3);
-- Comments may ask for exemptions, and decide nothing.
ALTER TABLE "repositories" ADD COLUMN "comments_only_request" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "comment_answers_repository_id_taken_at_idx" ON "comment_answers"("repository_id", "taken_at");
