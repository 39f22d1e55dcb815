// Every process that a benchmark starts, so that none is left behind when one fails.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const running = new Set<ChildProcess>();

/** Has the child ended with the benchmarks, at the latest. */
export function track<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends it kindly; after ten seconds it is killed. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

export const endAll = (): Promise<unknown> => Promise.all([...running].map(end));

/** A program of the benchmarks in a process of its own, asked one thing after another. */
export type Program = { pid: number; ask<Answer>(question: object): Promise<Answer>; stop(): Promise<void> };

/** @param file below `bench/`; it answers each message with one message, and says hello first. */
export async function startProgram(file: string, environment: Record<string, string> = {}): Promise<Program> {
  const child = track(fork(new URL(file, import.meta.url), { env: { ...process.env, ...environment } }));
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`bench/${file} ended with ${code}`);
  });
  failed.catch(() => {});
  await Promise.race([once(child, 'message'), failed]);
  return {
    pid: child.pid!,
    async ask(question) {
      const answer = once(child, 'message');
      child.send(question);
      return (await Promise.race([answer, failed]))[0];
    },
    stop: () => end(child),
  };
}

/** Clock ticks of Linux's /proc, which are 10 ms everywhere that matters. */
const tick = 10;

/** Milliseconds of processor time that a process has used. */
export function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tick;
}

/** MiB of memory that a process has: now, and at most so far. */
export function memoryOf(pid: number): { resident: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) / 1024;
  return { resident: read('VmRSS'), peak: read('VmHWM') };
}
