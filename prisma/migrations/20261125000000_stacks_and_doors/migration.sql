-- The stacks of open pull requests, as GitHub last listed them: merging one pull request of a stack merges all below it.
ALTER TABLE "repositories" ADD COLUMN "stacks" JSONB NOT NULL DEFAULT '[]';
-- When webhooks were last turned away, because too many arrived at once.
ALTER TABLE "delivery_scans" ADD COLUMN "refused_at" TIMESTAMPTZ(3);
-- Since when a pull request has its head, by GitHub's clock: a command in a comment does not count for later commits.
ALTER TABLE "open_pull_requests" ADD COLUMN "head_since" TIMESTAMPTZ(3);
