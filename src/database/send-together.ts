import type pg from 'pg';

const corked = new WeakSet<pg.Client>();

/** What is asked in a turn of the event loop goes to PostgreSQL by one system call. @param client that pipelines. */
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
