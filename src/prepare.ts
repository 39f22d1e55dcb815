// `npm ci` runs this. It makes the files that the first start of the embedded database copies.
import { openEmbedded } from './database/embedded.ts';
import { prepare } from './database/prepared-folder.ts';

await prepare(async (dataDir) => {
  const database = await openEmbedded(dataDir);
  await database.close();
});
