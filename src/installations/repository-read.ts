import type { Row, SqlTx } from '../database/sql.ts';
import type { FoundRepository } from './repository-rows.ts';

/**
 * One value that is read of a repository. It travels in the statement that finds the repository by an application key's
 * request, so that both cost one trip; else it goes alone.
 */
export type RepositoryRead<Value> = {
  /** Of the statement: the same SQL always comes with the same name. */
  name: string;
  /** A scalar subquery that gives JSON. `named.repository_id` and `named.owner_id` say whose; its parameters begin at $1. */
  sql: string;
  /** How many parameters it has. */
  parameters: number;
  valueOf(json: unknown, repository: Place): Value;
};

/** A read with the values of its parameters. */
export type Asked<Value> = { read: RepositoryRead<Value>; values: unknown[] };

/** Which repository is read of. */
export type Place = Pick<FoundRepository, 'id' | 'accountId'>;

/** Reads it alone, in one statement. */
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
