-- Nobody needs the waits of a freeze whose report is kept.
DELETE FROM "freeze_waits" WHERE NOT EXISTS (SELECT FROM "freezes" WHERE "id" = "freeze_id" AND "report_due_at" IS NOT NULL);
