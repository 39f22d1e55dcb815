// `npm ci` runs this. It makes the files that the first start of the embedded database copies.
import { pino } from 'pino';
import { systemClock } from './clock.ts';
import { openEmbedded } from './database/embedded.ts';
import { prepare } from './database/prepared-folder.ts';
import { startJobQueue } from './queue/queue.ts';

await prepare(async (dataDir) => {
  const database = await openEmbedded(dataDir);
  const queue = await startJobQueue(database, systemClock, pino({ level: 'silent' }));
  await queue.stop();
  await database.close();
});
