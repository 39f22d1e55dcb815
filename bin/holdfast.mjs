#!/usr/bin/env node
// Plain JavaScript, so that a Node that cannot run TypeScript can say so, or hand over to the one that npm installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const program = fileURLToPath(new URL('../src/holdfast.ts', import.meta.url));
const installed = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  // Type stripping says that it is experimental in some versions; that is not about the user.
  process.removeAllListeners('warning');
  await import('./compile-cache.mjs');
  await import(program);
} else if (existsSync(installed)) {
  const child = spawn(installed, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A signal to this process is meant for the other, which may have a freeze to end. Ctrl-C reaches both anyway.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void ((signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal)));
  child.once('exit', (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1);
  });
} else {
  process.stderr.write(`holdfast needs Node 22.18 or later; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
}
