// A database as it is after years: 10,000 repositories with their freezes, scopes, heads and events.
import pg from 'pg';

export type Size = { repositories: number; freezesEach: number; scopesEach: number; headsEach: number };

/** Beyond GitHub's ids of the sandbox. */
const firstId = 1_000_000_000;

/**
 * Adds repositories of acme that look as if they had been looked at just now. Of the freezes most are past, one of
 * twenty is ongoing, one of twenty is ahead; nothing waits to be done.
 */
export async function fill(connectionString: string, size: Size): Promise<void> {
  const { repositories, freezesEach, scopesEach, headsEach } = size;
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO repositories (id, account_id, installation_id, name, name_key, private, archived, products,
        seen_at, reconcile_requested_at, reconciled_at, first_status_at, observations)
      SELECT ${firstId} + n, i.account_id, i.id, 'service-' || n, 'service-' || n, true, false,
        '{merge_protections}', now(), now() - interval '1 minute', now(), now() - interval '1 year', 1000
      FROM generate_series(1, ${repositories}) n, (SELECT id, account_id FROM installations LIMIT 1) i`);
    // begin: minutes from now. The ongoing ones began before the repository was last looked at.
    await client.query(`
      INSERT INTO freezes (id, repository_id, reason, start, "end", timezone, starts_at, ends_at, matching_conditions,
        exclude_conditions, reads, created_at, created_by, updated_at, updated_by, deleted_at)
      SELECT gen_random_uuid(), ${firstId} + r, 'Release ' || f,
        to_char(starts, 'YYYY-MM-DD"T"HH24:MI:SS'), to_char(ends, 'YYYY-MM-DD"T"HH24:MI:SS'), 'UTC', starts, ends,
        '["base=main", "label=risky"]', '["label=hotfix"]', '{labels}', starts - interval '1 day',
        '{"type": "user", "id": 1, "name": "ada"}', starts - interval '1 day', '{"type": "user", "id": 1, "name": "ada"}',
        CASE WHEN kind < 18 AND (r + f) % 10 = 0 THEN ends END
      FROM generate_series(1, ${repositories}) r, generate_series(1, ${freezesEach}) f,
        LATERAL (SELECT (r * 7 + f * 3) % 20 AS kind) k,
        LATERAL (SELECT date_trunc('second', now()) + CASE
          WHEN kind = 18 THEN interval '-1 hour' * (1 + r % 48)
          WHEN kind = 19 THEN interval '1 hour' * (2 + r % 720)
          ELSE interval '-1 day' * (10 + (r + f * 37) % 700) END AS starts) s,
        LATERAL (SELECT starts + CASE WHEN kind = 18 THEN interval '90 days' ELSE interval '36 hours' END AS ends) e`);
    await client.query(`
      INSERT INTO pull_request_scopes (repository_id, number, scopes, all_scopes, pushed_at, pushed_by)
      SELECT ${firstId} + r, n, ARRAY['backend', 'docs', 'scope-' || n % 20], false, now(),
        '{"type": "application", "id": "1", "name": "ci"}'
      FROM generate_series(1, ${repositories}) r, generate_series(1, ${scopesEach}) n`);
    const heads = `FROM generate_series(1, ${repositories}) r, generate_series(1, ${headsEach}) n,
        LATERAL (SELECT encode(sha224((r || '/' || n)::bytea), 'hex') AS long) s`;
    await client.query(`
      INSERT INTO open_pull_requests (repository_id, number, node_id, head_sha, observation)
      SELECT ${firstId} + r, n, 'PR_' || r || '_' || n, left(long, 40), 1000 ${heads}`);
    await client.query(`
      INSERT INTO head_statuses (repository_id, sha, state, description, observation, is_waiting, urgency, not_before,
        written_state, written_description, written_during)
      SELECT ${firstId} + r, left(long, 40), 'success', 'No freeze holds this pull request.', 1000, false, 0, now(),
        'success', 'No freeze holds this pull request.', 1000 ${heads}`);
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}
