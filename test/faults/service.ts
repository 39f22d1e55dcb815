// The real service as a process of its own, on a clock that the test steps by messages. Ends with the test.
import { createApp } from '../../src/server/app.ts';
import { readConfig } from '../../src/config.ts';
import { connectDatabase } from '../../src/database/connect.ts';
import { SteppableClock } from './steppable-clock.ts';

export type Order = { clockOffset: number } | { wrongBy: number };
export type Report = { url: string } | { steppedTo: number };

const report = (what: Report) => void process.send?.(what, undefined, undefined, () => {});
const clock = new SteppableClock(
  Number(process.env['CLOCK_OFFSET'] ?? 0),
  process.env['DATA_DIR'] !== undefined,
);

process.on('message', (order: Order) => {
  if ('wrongBy' in order) return void clock.setWrong(order.wrongBy);
  const { clockOffset } = order;
  void clock.step(clockOffset).then(() => report({ steppedTo: clockOffset }));
});
process.on('disconnect', () => process.exit(0));

const config = readConfig(process.env);
const database = await connectDatabase(config.database);
await clock.drive(database);
const app = await createApp(config, { clock, database });
report({ url: app.url });
