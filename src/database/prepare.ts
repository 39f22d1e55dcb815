// `npm ci` runs this. It makes the files that the first start of the embedded database copies.
import { openEmbedded } from './embedded.ts';
import { prepare } from './prepared-folder.ts';

await prepare(async (dataDir) => {
  const database = await openEmbedded(dataDir);
  await database.close();
});
