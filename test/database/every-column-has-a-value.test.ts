import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import type { SqlConnection } from '../../src/database/database.ts';
import { acmeForAll } from '../api/acme.ts';
import { contract, nameOf, pathOf } from '../api/contract.ts';
import { type Column, fillTables, readColumns, tablesOf } from '../support/fill-tables.ts';
import { addressIn, pathsToOpen } from '../support/page-addresses.ts';
import { Visitor } from '../support/visitor.ts';

// Tests make rows that lack most of what a year of use writes. Here every column of every table has a value, also those
// that a later migration adds: then every page opens, and every GET route answers.

const acme = acmeForAll();
const ada = new Visitor(acme);
const ids = { freeze: '', plan: '' };

beforeAll(async () => {
  await ada.signIn('ada');
  const holding = { holds: ['merges', 'deployments'], environments: ['production'] };
  ids.freeze = (await acme.freeze({ start: null, ...holding })).id;
  ids.plan = (await acme.plan({ start: null, ...holding })).id;
  const body = { reason: 'A fix', freeze_ids: [ids.freeze] };
  await acme.call('POST', '/v1/repos/acme/web/pulls/1/exemptions', { as: acme.people.wes, body });
  const deployment = { environment: 'production', sha: 'c'.repeat(40), reason: 'A fix' };
  await acme.call('POST', '/v1/repos/acme/web/deployment_exemptions', {
    as: acme.people.wes,
    body: deployment,
  });
  await acme.webhook();
  await acme.call('PATCH', '/v1/settings/acme', { as: acme.keys.admin, body: { comment_commands: true } });
  await acme.quiet();
});

/** Columns that take what is theirs from sight: they get a value last, when it no longer has to be seen. */
const closing =
  /^(deleted_at|suspended_at|ended_at|revoked_at|over_at|paused_until|reads_paused_until|archived)$/;

const someone = `'{"type": "user", "id": 1, "name": "ada"}'`;
const source = `'{"url": "https://calendar.example/a.ics", "titles": ["Holiday"], "windows": [], "readAt": "2026-03-01T09:00:00.000Z", "readWholeAt": "2026-03-01T09:00:00.000Z", "error": "It is gone.", "doubtedAt": "2026-03-01T09:00:00.000Z", "etag": "x", "lastModified": "x"}'`;
/** What a text or JSON means, so that it is a value that the service writes. */
const meanings: Record<string, string> = {
  'freezes.on_deployment': `'wait'`,
  'freezes.holds': `'{merges,deployments}'`,
  'freezes.end': `'2031-03-09T09:00:00'`,
  'freezes.ends_at': `'2031-03-09T09:00:00Z'`,
  'freezes.restores': `'{"detached": false}'`,
  'freezes.plan_id': '(SELECT id FROM freeze_plans LIMIT 1)',
  'freezes.occurrence': `id::text`,
  'freeze_plans.source': source,
  'freeze_plans.changes': `'{"2030-01-02": {"start": "2030-01-02T00:00:00", "window": null, "isSkipped": true}}'`,
  'freeze_plans.rule': `'FREQ=DAILY'`,
  'freeze_plans.until': `'2031-03-09'`,
  'freeze_plans.except': `'{2030-01-01}'`,
  'freeze_plans.exclude': `'{attic}'`,
  'freeze_plans.end': `'2031-03-09T09:00:00'`,
  'installations.review_pace': `'{}'`,
  'slack_requests.noted': `'{}'`,
  'slack_requests.answer': `'{}'`,
  'exemptions.ended_by': `'time'`,
  'exemptions.environment': `CASE WHEN number = 0 THEN 'production' END`,
  'exemptions.run_id': `CASE WHEN number = 0 THEN 1 END`,
  'outgoing_deliveries.group_key': `id::text`,
  'outgoing_webhooks.events': `'{freeze.started}'`,
  'outgoing_webhooks.repositories': `'{web}'`,
  'outgoing_deliveries.event_ids': '(SELECT array_agg(id) FROM (SELECT id FROM audit_events LIMIT 2) AS two)',
  'open_pull_requests.merge_state': `'CLEAN'`,
  'open_pull_requests.held_by': '(SELECT array_agg(id) FROM freezes)',
  'head_statuses.written_state': `'pending'`,
  'head_statuses.not_held': `'refused'`,
  'oidc_rules.key_id': '(SELECT id FROM application_keys LIMIT 1)',
  'audit_events.pull_request': '1',
};
const idsOf: Record<string, string> = {
  installation_id: '(SELECT id FROM installations LIMIT 1)',
  repository_id: '(SELECT id FROM repositories LIMIT 1)',
};

/** SQL for a value of a column; null where `meanings` has to say it, if no row has one. */
function sampleOf({ table, column, type, label, isArray }: Column): string | null {
  const known = meanings[`${table}.${column}`] ?? idsOf[column];
  if (known !== undefined) return known;
  const single =
    label ??
    {
      uuid: '00000000-0000-4000-8000-000000000001',
      timestamptz: /until|expires/.test(column) ? '2031-01-01T00:00:00Z' : '2026-03-01T08:59:00Z',
      bool: 'true',
      bytea: '\\x01',
      text: 'main',
    }[type] ??
    '1';
  if (type !== 'jsonb') return isArray ? `'{${single}}'` : `'${single}'`;
  return column.endsWith('_by') ? someone : null;
}

/** The database, in a transaction in which rows need not refer to others. */
const inDatabase = (act: (connection: SqlConnection) => Promise<void>): Promise<void> =>
  acme.app.deps.db.$transaction(
    async (tx) => {
      const connection = {
        query: async (text: string) => ({ rows: await tx.$queryRawUnsafe(text) }),
        script: (text: string) => tx.$executeRawUnsafe(text),
      };
      await act(connection as unknown as SqlConnection);
    },
    { timeout: 60_000 },
  );

/** Gives every column of this kind a value, in every row that has none. */
async function fill(connection: SqlConnection, isChosen: (column: Column) => boolean): Promise<void> {
  await connection.script('SET LOCAL session_replication_role = replica');
  for (const [table, its] of tablesOf(await readColumns(connection))) {
    const given = its.filter(isChosen).flatMap((column) => {
      const sample = sampleOf(column);
      const name = `"${column.column}"`;
      const isEmpty = `${name} IS NULL${column.isArray ? ` OR ${name} = '{}'` : ''}`;
      return sample === null ? [] : [`${name} = CASE WHEN ${isEmpty} THEN ${sample} ELSE ${name} END`];
    });
    if (given.length === 0) continue;
    await connection.script(`UPDATE "${table}" SET ${given.join(', ')}`);
  }
}

const pages = pathsToOpen.filter((path) => !path.startsWith('/v1/') && !path.includes('*'));
const addressOf = (path: string) => addressIn(path, ids);

/** The first answer of a stream, which would go on for half a minute. */
async function listen(path: string): Promise<Response> {
  const Cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(acme.app.url + path, { headers: { Cookie } });
  const reader = answer.body!.getReader();
  await reader.read();
  await reader.cancel();
  return answer;
}

const failed: string[] = [];
async function openAll(when: string, isSeen: boolean): Promise<void> {
  for (const path of pages) {
    const { status } = path.endsWith('/live')
      ? await listen(addressOf(path))
      : await ada.open(addressOf(path));
    const isOwn = isSeen && /^\/(owners|repos)\/:owner(\/:repository|\/[a-z-]+)?$/.test(path);
    if (status >= (isOwn ? 400 : 500)) failed.push(`${when}: ${path} ${status}`);
  }
}

test('every page opens and every GET route answers', async () => {
  const routes = endpoints.filter(({ method }) => method === 'get');
  const addresses: [string, string, number][] = [];
  for (const route of routes) {
    const terms = contract[nameOf(route)]!;
    const as = acme.keys[terms.for === 'ci' ? 'ci' : 'admin'];
    const last = await terms.last?.(acme, 'web');
    addresses.push([pathOf(route.path, { last }), as, terms.success]);
  }
  await acme.quiet();
  const askAll = async (when: string, isSeen: boolean) => {
    for (const [path, as, success] of addresses) {
      const { status } = await acme.ask('GET', path, { as });
      if (status >= 500 || (isSeen && status !== success)) failed.push(`${when}: GET ${path} ${status}`);
    }
  };
  await inDatabase(async (connection) => {
    // Of what nobody made here, there is a row that belongs to nobody. The queue would run one.
    const columns = await readColumns(connection);
    for (const [table, its] of tablesOf(columns)) {
      const { rows } = await connection.query(`SELECT FROM "${table}" LIMIT 1`);
      if (rows.length === 0 && table !== 'jobs') await fillTables(connection, 999, its);
    }
    await fill(connection, ({ table, column }) => table !== 'jobs' && !closing.test(column));
  });
  await openAll('filled', true);
  await askAll('filled', true);
  await inDatabase((connection) => fill(connection, ({ table }) => table !== 'jobs'));
  await openAll('closed', false);
  await askAll('closed', false);
  expect(failed).toEqual([]);
  await inDatabase(async (connection) => {
    for (const [table, its] of tablesOf(await readColumns(connection))) {
      if (table === 'jobs') continue;
      const counts = its.map(({ column }) => `count("${column}")::int AS "${column}"`);
      const { rows } = await connection.query(`SELECT ${counts.join(', ')} FROM "${table}"`);
      // Say in `meanings` what such a column has.
      expect([table, Object.entries(rows[0]!).filter(([, count]) => count === 0)]).toEqual([table, []]);
    }
  });
});
