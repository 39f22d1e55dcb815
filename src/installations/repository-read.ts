import type { Row, SqlTx } from '../database/sql.ts';
import type { FoundRepository } from './repository-rows.ts';

/**
 * One value that we read about a repository. For requests with an application key, the statement that finds the
 * repository includes it, so that both cost one round trip. Otherwise it has its own statement.
 */
export type RepositoryRead<Value> = {
  /** The name of the statement. The same SQL always has the same name. */
  name: string;
  /** A scalar subquery that returns JSON, for `named.repository_id` and `named.owner_id`. Its parameters start at $1. */
  sql: string;
  /** How many parameters it has. */
  parameters: number;
  valueOf(json: unknown, repository: Place): Value;
};

/** A read with the values of its parameters. */
export type Asked<Value> = { read: RepositoryRead<Value>; values: unknown[] };

/** The repository to read. */
export type Place = Pick<FoundRepository, 'id' | 'accountId'>;

/** Reads the value with its own statement. */
export async function readAlone<Value>(
  sql: SqlTx,
  { read, values }: Asked<Value>,
  { id, accountId }: Place,
): Promise<Value> {
  const [row] = await sql.query<Row>(read.name, alone(read), [...values, id, accountId]);
  return read.valueOf(row!['value'], { id, accountId });
}

const alone = ({ sql, parameters: count }: RepositoryRead<unknown>): string =>
  `SELECT (${sql}) AS value FROM (SELECT $${count + 1}::int8 AS repository_id, $${count + 2}::int8 AS owner_id) named`;
