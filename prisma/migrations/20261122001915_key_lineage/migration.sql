-- AlterTable
ALTER TABLE "application_keys" ADD COLUMN     "last_used_at" TIMESTAMPTZ(3);

-- A key ends with the key that made it. Those that were made before this was so end now where their maker has ended:
-- whoever revoked a leaked key meant what was made with it too.
CREATE TEMPORARY TABLE "bounds" AS
WITH RECURSIVE "bounds" AS (
  SELECT "id", "expires_at", "revoked_at", "revoked_by" FROM "application_keys"
  WHERE "created_by"->>'type' IS DISTINCT FROM 'application'
  UNION ALL
  SELECT "made"."id", LEAST("made"."expires_at", "maker"."expires_at"),
    COALESCE("made"."revoked_at", "maker"."revoked_at"), COALESCE("made"."revoked_by", "maker"."revoked_by")
  FROM "application_keys" "made" JOIN "bounds" "maker"
    ON "made"."created_by"->>'type' = 'application' AND "made"."created_by"->>'id' = "maker"."id"::text
)
SELECT * FROM "bounds";

INSERT INTO "audit_events" ("received_at", "account_id", "type", "outcome", "trigger", "metadata")
SELECT now(), "key"."account_id", 'application_key.revoke', 'success', 'api', jsonb_build_object(
  'key_id', "key"."id", 'key_name', "key"."name", 'key_scope', "key"."scope",
  'revoked_with', "key"."created_by"->>'id',
  'revoked_by', "bounds"."revoked_by",
  'revoked_at', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'revoked_by_staff', false)
FROM "bounds" JOIN "application_keys" "key" ON "key"."id" = "bounds"."id"
WHERE "key"."revoked_at" IS NULL AND "bounds"."revoked_at" IS NOT NULL;

UPDATE "application_keys" "key"
SET "expires_at" = "bounds"."expires_at",
  "revoked_at" = CASE WHEN "bounds"."revoked_at" IS NULL THEN NULL ELSE COALESCE("key"."revoked_at", now()) END,
  "revoked_by" = "bounds"."revoked_by"
FROM "bounds" WHERE "bounds"."id" = "key"."id" AND "key"."created_by"->>'type' = 'application';

DROP TABLE "bounds";
