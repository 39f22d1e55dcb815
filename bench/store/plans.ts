// What PostgreSQL really did, from its own log: the plans that auto_explain writes there for every statement.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { administer } from '../../test/support/postgres.ts';

/** Tables that grow: none of them may be read from end to end. */
const bigTables = ['repositories', 'freezes', 'head_statuses', 'open_pull_requests', 'pull_request_scopes'];

type Node = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
};

export type Statement = {
  sql: string;
  ms: number;
  /** Big tables that were read from end to end. */
  scanned: string[];
  /** Rows of those that it looked at, also what a filter threw away. */
  rows: number;
};

/** Has connections to this database be ready for `explainAll`, which reaches those that are open already. */
export async function prepareForPlans(connectionString: string): Promise<string> {
  const name = new URL(connectionString).pathname.slice(1);
  await administer(connectionString, `ALTER DATABASE ${name} SET session_preload_libraries = 'auto_explain'`);
  return connectionString;
}

/** Has every statement explained in the log, or none any more. */
export async function explainAll(connectionString: string, isOn: boolean): Promise<void> {
  const settings = { log_min_duration: isOn ? '0' : '-1', log_format: 'json', log_analyze: 'on' };
  for (const [name, value] of Object.entries(settings))
    await administer(connectionString, `ALTER SYSTEM SET auto_explain.${name} = '${value}'`);
  await administer(connectionString, 'SELECT pg_reload_conf()');
  await sleep(200);
}

function* linesOf(logs: string): Generator<{ dbname?: string; message: string }> {
  for (const file of readdirSync(logs)
    .filter((each) => each.endsWith('.json'))
    .sort())
    for (const line of readFileSync(join(logs, file), 'utf8').split('\n')) if (line) yield JSON.parse(line);
}

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

/** The statements that ran while `work` did. */
export async function statementsOf(
  logs: string,
  database: string,
  work: () => Promise<unknown>,
): Promise<Statement[]> {
  const skipped = [...linesOf(logs)].length;
  await work();
  // The collector writes a little later.
  await sleep(500);
  return [...linesOf(logs)].slice(skipped).flatMap(({ dbname, message }) => {
    const [, ms, plan] = /^duration: ([\d.]+) ms\s+plan:\s*(\{.*)$/s.exec(message) ?? [];
    if (dbname !== database || !plan) return [];
    const parsed = JSON.parse(plan) as { 'Query Text': string; Plan: Node };
    const nodes = [...nodesOf(parsed.Plan)];
    const scanned = nodes
      .filter((node) => node['Node Type'] === 'Seq Scan' && bigTables.includes(node['Relation Name']!))
      .map((node) => node['Relation Name']!);
    return [
      { sql: parsed['Query Text'], ms: Number(ms), scanned: [...new Set(scanned)], rows: rowsOf(nodes) },
    ];
  });
}

const rowsOf = (nodes: Node[]): number =>
  nodes
    .filter((node) => bigTables.includes(node['Relation Name']!) && /Scan$/.test(node['Node Type']))
    .reduce(
      (sum, node) =>
        sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    );
