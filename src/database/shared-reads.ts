import pg from 'pg';

/** As many connections as a small server answers at once. With more, they only take turns. */
const connections = 2;

/** Connections that many reads share. Reads of the same turn go out together, and none waits for an answer. */
export type SharedReads = { query: pg.Client['query']; end(): Promise<void> };

/** Opens no connection before the first read. Replaces one that breaks, and asks its questions once more. */
export function openSharedReads(through: pg.ClientConfig): SharedReads {
  const clients: (Promise<pg.Client> | null)[] = Array.from({ length: connections }, () => null);
  let turn = 0;
  let underWay = 0;

  const open = async (forget: () => void): Promise<pg.Client> => {
    const client = new pg.Client(through);
    client.on('error', forget).on('end', forget);
    await client.connect();
    return client;
  };

  const ask = async (given: pg.QueryConfig): Promise<pg.QueryResult> => {
    const mine = (turn = (turn + 1) % connections);
    const client = (clients[mine] ??= open(() => (clients[mine] = null)));
    underWay++;
    try {
      const connected = await client;
      // A read that is alone waits for no other.
      return await (underWay === 1 ? connected.query(given) : sendTogether(connected, given));
    } catch (error) {
      // A client that lost its connection does not connect again.
      if (isLost(error) && clients[mine] === client) clients[mine] = null;
      throw error;
    } finally {
      underWay--;
    }
  };

  return {
    query: ((given: pg.QueryConfig) =>
      ask(given).catch((error: unknown) => {
        if (isLost(error)) return ask(given);
        throw error;
      })) as pg.Client['query'],
    async end() {
      await Promise.all(clients.map(async (client) => (await client?.catch(() => null))?.end()));
    },
  };
}

/** Whether the connection broke. An answer of PostgreSQL to a statement does not count, unless it shuts down. */
const isLost = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || (error.code?.startsWith('57P') ?? false);

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
