// What the routes cost at least: a bare Hono and the one SQL statement, without keys, permissions or jobs.
import { type HttpBindings, serve } from '@hono/node-server';
import { PGlite } from '@electric-sql/pglite';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const { DATABASE_URL: connectionString, DATA_DIR: dataDir } = process.env;
const query = connectionString ? askPostgres(connectionString) : await askEmbedded(dataDir!);

type Query = (name: string, sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>;

function askPostgres(connectionString: string): Query {
  const pool = new pg.Pool({ connectionString, max: 10 });
  return async (name, text, values) => (await pool.query({ name, text, values })).rows;
}

async function askEmbedded(folder: string): Promise<Query> {
  const pglite = await PGlite.create(folder);
  return async (_name, sql, values) => (await pglite.query<Record<string, unknown>>(sql, values)).rows;
}

const freezes = `
  SELECT coalesce(json_agg(json_build_object(
    'id', id, 'reason', reason, 'start', start, 'end', "end", 'timezone', timezone,
    'matching_conditions', matching_conditions, 'exclude_conditions', exclude_conditions
  ) ORDER BY starts_at), '[]') AS freezes
  FROM freezes WHERE deleted_at IS NULL AND (ends_at IS NULL OR ends_at > now())
    AND repository_id = (SELECT id FROM repositories WHERE name_key = $1 ORDER BY seen_at DESC LIMIT 1)`;
/** The same scopes again write nothing: else the floor would wait for the disk, and Holdfast would not. */
const scopes = `
  INSERT INTO pull_request_scopes (repository_id, number, scopes, all_scopes, pushed_at, pushed_by)
  SELECT id, $2, $3::text[], false, now(), '{}' FROM repositories r WHERE name_key = $1
    AND NOT EXISTS (SELECT FROM pull_request_scopes WHERE repository_id = r.id AND number = $2 AND scopes = $3)
  ON CONFLICT (repository_id, number) DO UPDATE SET scopes = excluded.scopes, pushed_at = excluded.pushed_at`;

const app = new Hono<{ Bindings: HttpBindings }>();
app.get('/readyz', async (context) => context.json(await query('ready', 'SELECT 1', [])));
app.get('/v1/repos/:owner/:repository/scheduled_freeze', async (context) => {
  const [row] = await query('freezes', freezes, [context.req.param('repository')]);
  return context.json({ scheduled_freezes: row!['freezes'] });
});
app.get('/v1/repos/:owner/:repository/freeze_state', async (context) => {
  const [row] = await query('freezes', freezes, [context.req.param('repository')]);
  return (row!['freezes'] as unknown[]).length > 0 ? context.body(null, 304) : context.json({});
});
app.put('/v1/repos/:owner/:repository/pulls/:number/scopes', async (context) => {
  const body = await context.req.json<{ scopes: string[] }>();
  const { repository, number } = context.req.param();
  // Another number than the service's: the two must not wait for each other's row.
  await query('scopes', scopes, [repository, Number(number) + 1_000_000, body.scopes]);
  return context.body(null, 204);
});
const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => {
  process.on('message', () =>
    process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
  );
  process.send!('hello');
});
