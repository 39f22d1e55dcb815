// The last step of `npm ci`.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

// Links the command for npx. If package.json named it as `bin`, npx would install this package a second time,
// and generate the client again while a service loads it.
const command = fileURLToPath(new URL('../node_modules/.bin/holdfast', import.meta.url));
try {
  rmSync(command, { force: true });
  symlinkSync('../../bin/holdfast.mjs', command);
} catch (error) {
  process.stderr.write(`The command holdfast is not linked, so run bin/holdfast.mjs instead: ${error}\n`);
}

// Saves seconds at each first start, and nothing depends on it.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  try {
    await import('./compile-cache.mjs');
    // The files that the first start of the embedded database copies.
    const { openEmbedded, prepareEmbedded } = await import('../src/database/embedded.ts');
    await prepareEmbedded((dataDir) => openEmbedded(dataDir).then((database) => database.close()));
    // Loads it only to cache its code.
    await import('../src/server/app.ts');
  } catch (error) {
    process.stderr.write(`No database was prepared, so a first start takes longer: ${error}\n`);
  }
  // Without the packages of development, nobody checks types.
  if (existsSync(fileURLToPath(new URL('../node_modules/openapi-typescript', import.meta.url)))) {
    const { writeApiTypes } = await import('./write-api-types.ts');
    await writeApiTypes();
  }
}
