import pg from 'pg';
import type { Listen } from './database.ts';

// Milliseconds.
const listenEvery = 10_000;
const patience = 5000;
const shortestPause = 1000;
const longestPause = 30_000;

/** Listens on a connection of its own. Replaces it when it breaks, after pauses that grow. */
export const listenThrough =
  (connectionString: string): Listen =>
  async (channel, hear, failed) => {
    let client: pg.Client | null = null;
    let timer: NodeJS.Timeout;
    let pause = shortestPause;
    let isClosed = false;

    const connect = async () => {
      const mine = (client = new pg.Client({
        connectionString,
        connectionTimeoutMillis: patience,
        query_timeout: patience,
        keepAlive: true,
        keepAliveInitialDelayMillis: listenEvery,
      }));
      const lose = (error: unknown) => {
        if (client !== mine || isClosed) return;
        client = null;
        void mine.end().catch(() => {});
        failed(error);
        clearTimeout(timer);
        timer = setTimeout(() => void connect(), pause);
        pause = Math.min(longestPause, pause * 2);
      };
      // Again and again: only an answer shows that the connection is still there.
      const listen = async () => {
        await mine.query(`LISTEN ${channel}`);
        if (client === mine && !isClosed) timer = setTimeout(() => void listen().catch(lose), listenEvery);
      };
      mine.on('error', lose).on('notification', ({ payload = '' }) => hear(payload));
      try {
        await mine.connect();
        await listen();
        pause = shortestPause;
        hear(null);
      } catch (error) {
        lose(error);
      }
    };

    await connect();
    return {
      async close() {
        isClosed = true;
        clearTimeout(timer);
        await client?.end().catch(() => {});
      },
    };
  };
