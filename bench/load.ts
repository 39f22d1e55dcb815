// autocannon in a process of its own: what this machine's other parts do must not delay its clock.
import autocannon from 'autocannon';
import { percentile } from './statistics.ts';

export type Load = {
  /** Without a path. */
  url: string;
  /** Asked for in turns; each connection begins with another one. */
  paths: string[];
  method: 'GET' | 'PUT';
  headers?: Record<string, string>;
  body?: string;
  connections: number;
  seconds: number;
  /** In the place of the seconds: ends after so many requests. */
  amount?: number;
};
export type Loaded = { perSecond: number; p50: number; p99: number };

async function load({ seconds, amount, paths, ...options }: Load): Promise<Loaded> {
  const until = amount === undefined ? { duration: seconds } : { amount };
  const times: number[] = [];
  let count = 0;
  // Node accepts one connection in each turn of its loop, so the first request of each waits for the others to be
  // accepted. Its time is not one of the work, and in rounds of seconds there are enough of them to be the p99.
  const answered = new Set<autocannon.Client>();
  const began = performance.now();
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    let connection = 0;
    const setupClient = (client: autocannon.Client) => {
      const first = connection++ % paths.length;
      client.setRequests([...paths.slice(first), ...paths.slice(0, first)].map((path) => ({ path })));
    };
    const run = autocannon({ ...options, ...until, setupClient }, (error: Error | null, result) =>
      error ? reject(error) : resolve(result),
    );
    // Its own percentiles are whole milliseconds.
    run.on('response', (client, status, _bytes, time) => {
      if (status >= 300 && status !== 304)
        reject(new Error(`${options.method} ${paths[0]} was answered ${status}`));
      count++;
      if (answered.has(client)) times.push(time);
      answered.add(client);
    });
  });
  if (errors > 0) throw new Error(`${options.url}: ${errors} requests failed`);
  const took = (performance.now() - began) / 1000;
  return { perSecond: count / took, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

process.on('message', (given: Load) => void load(given).then((loaded) => process.send!(loaded)));
process.send!('hello');
