-- Settings that were set, by their names in the API. A repository without one has its owner's, and an owner without one
-- has the built-in default.
ALTER TABLE "accounts" ADD COLUMN "settings" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "repositories" ADD COLUMN "settings" JSONB NOT NULL DEFAULT '{}';

-- What differs from the default was set. The version before reads the columns, so they stay.
UPDATE "repositories" SET "settings" = jsonb_strip_nulls(jsonb_build_object(
    'two_person_exemptions', CASE WHEN "two_person_exemptions" THEN true END,
    'longest_open_end_hours', "longest_open_end_hours",
    'comment_commands', CASE WHEN NOT "comment_commands" THEN 'false'::jsonb WHEN "comments_only_request" THEN '"requests"'::jsonb END
))
WHERE "two_person_exemptions" OR "longest_open_end_hours" IS NOT NULL OR NOT "comment_commands" OR "comments_only_request";
