-- Names of plans are public. Where nobody gave one, it was made of the reason, also of plans with a public reason: as a
-- whole, or its first line, or its first 80 characters, the last of which may be an ellipsis. These plans are named after
-- their public reason now. The reason may have changed since: the audit log has the earlier ones.
WITH open_plans AS (
  SELECT id, account_id, btrim(regexp_replace(rtrim(name, '…'), '\s+', ' ', 'g')) AS stem, reason,
    btrim(regexp_replace(split_part(btrim(public_reason, E' \t\r\n'), E'\n', 1), '\s+', ' ', 'g')) AS line
  FROM freeze_plans WHERE public_reason IS NOT NULL
), reasons AS (
  SELECT id, stem, reason FROM open_plans
  UNION ALL
  SELECT plan.id, stem, attributes->>'reason' FROM open_plans AS plan
    JOIN audit_events AS event ON event.account_id = plan.account_id
      AND event.type IN ('freeze_plan.create', 'freeze_plan.update') AND event.metadata->>'freeze_plan_id' = plan.id::text
    CROSS JOIN LATERAL (VALUES (event.metadata->'freeze_plan_attributes'),
      (event.metadata->'freeze_plan_attributes_before'), (event.metadata->'freeze_plan_attributes_after')) AS each (attributes)
), said AS (
  SELECT id, stem, btrim(regexp_replace(reason, '\s+', ' ', 'g')) AS whole,
    btrim(regexp_replace(split_part(btrim(reason, E' \t\r\n'), E'\n', 1), '\s+', ' ', 'g')) AS first_line
  FROM reasons
)
UPDATE freeze_plans AS plan
SET name = CASE WHEN line = '' THEN 'Freeze' WHEN length(line) <= 80 THEN line ELSE btrim(left(line, 79)) || '…' END
FROM open_plans WHERE plan.id = open_plans.id AND plan.id IN (
  SELECT id FROM said
  WHERE stem <> '' AND (stem IN (whole, first_line) OR (length(stem) >= 78 AND starts_with(whole, stem)))
);
