#!/usr/bin/env node
// Plain JavaScript, so that a Node that cannot run TypeScript can say so, or start the Node that npm installed.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const program = fileURLToPath(new URL('../src/server/holdfast.ts', import.meta.url));
const installed = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 22 || (major === 22 && minor >= 18)) {
  // In some versions, Node warns that type stripping is experimental. Users do not need that warning.
  process.removeAllListeners('warning');
  await import('./compile-cache.mjs');
  await import(program);
} else if (existsSync(installed)) {
  const child = spawn(installed, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A signal to this process is for the other one, which may have to end a freeze. Ctrl-C reaches both anyway.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void ((signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal)));
  child.once('exit', (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1);
  });
} else {
  process.stderr.write(
    `holdfast needs Node 22.18 or later, and this is ${process.versions.node}. Run npm ci in the folder of Holdfast, which installs a Node of its own, or install Node from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
}
