import type pg from 'pg';

const corked = new WeakSet<pg.Client>();

/**
 * Sends all questions of a turn of the event loop to PostgreSQL with one system call.
 * @param client with a pipeline.
 */
export function sendTogether(client: pg.Client, given: pg.QueryConfig): Promise<pg.QueryResult> {
  if (!corked.has(client)) {
    const { stream } = client.connection;
    corked.add(client);
    stream.cork();
    setImmediate(() => {
      corked.delete(client);
      stream.uncork();
    });
  }
  return client.query(given);
}
