// Plain JavaScript, so that a Node that cannot run TypeScript can say so. `npm start` runs the Node that the lockfile
// pins, if there is one for the platform, or else the machine's own Node.
import process from 'node:process';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  await import('./compile-cache.mjs');
  await import('../src/main.ts');
} else {
  process.stderr.write(
    `Holdfast needs Node 22.18 or later; this is ${process.versions.node}. On Linux (x64, arm64), run npm ci and then npm start, which use Node 24. On other systems, update Node.\n`,
  );
  process.exitCode = 1;
}
