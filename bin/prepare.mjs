// The last step of `npm ci`. It saves seconds at each first start, and nothing depends on it.
import process from 'node:process';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  try {
    await import('./compile-cache.mjs');
    await import('../src/prepare.ts');
    // Loads it only to cache its code.
    await import('../src/app.ts');
  } catch (error) {
    process.stderr.write(`No database was prepared, so a first start takes longer: ${error}\n`);
  }
}
