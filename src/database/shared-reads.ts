import pg from 'pg';

/** As many as answer at once on a small server. More only take turns. */
const connections = 2;

/** Connections that many reads share: while one is answered the next are on their way. */
export type SharedReads = { query: pg.Client['query']; end(): Promise<void> };

/** Opens none before the first read; one that breaks is replaced at the next. */
export function openSharedReads(connectionString: string): SharedReads {
  const lanes: (Promise<pg.Client> | null)[] = Array.from({ length: connections }, () => null);
  let turn = 0;
  const open = async (lane: number): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString, pipeline: true });
    const forget = () => (lanes[lane] = null);
    // What was asked of it fails by itself.
    client.on('error', forget).on('end', forget);
    try {
      await client.connect();
    } catch (error) {
      forget();
      throw error;
    }
    return client;
  };
  const next = (): Promise<pg.Client> => {
    turn = (turn + 1) % connections;
    return (lanes[turn] ??= open(turn));
  };
  return {
    query: (async (given: pg.QueryConfig) => (await next()).query(given)) as pg.Client['query'],
    async end() {
      await Promise.all(lanes.map(async (lane) => (await lane?.catch(() => null))?.end()));
    },
  };
}
