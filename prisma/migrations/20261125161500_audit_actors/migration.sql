-- AlterTable
ALTER TABLE "audit_events" ADD COLUMN     "actor_key" TEXT;

-- A job fills the column of the events that are there, some at a time, because freezes write events meanwhile.
INSERT INTO "jobs" ("task", "key", "about", "data", "attempt", "due_at")
SELECT 'fill-actor-keys', 'all', 'all', '{"after": "0", "isAgain": false}', 0, date_trunc('milliseconds', now())
WHERE EXISTS (SELECT FROM "audit_events");
