// For every test file: what takes long because the machine is busy is no failure.
import { vi } from 'vitest';

type Options = Parameters<typeof vi.waitFor>[1];

/** Milliseconds that a test waits for something, as long as `expect.poll` does. */
const longest = 60_000;

const patient = (options: Options = {}): Options => {
  const { timeout = 0, ...more } = typeof options === 'number' ? { timeout: options } : options;
  return { ...more, timeout: Math.max(timeout, longest) };
};

/** Milliseconds: the service waits so long for GitHub and others. Shorter times make it quick, longer ones end what hangs. */
const isPatience = (milliseconds: number): boolean => milliseconds >= 100 && milliseconds <= 30_000;
/** Milliseconds between two beats while nothing keeps the event loop. */
const rhythm = 10;
/** The share of the beats after which a time is over: some are late on every machine. */
const enough = 1 / 2;

const { setTimeout } = globalThis;
let beats = 0;

/** Waits again where the event loop, or the whole process, hardly had a turn: others could not answer meanwhile either. */
function patientTimeout(callback: (...args: unknown[]) => void, milliseconds = 0, ...args: unknown[]) {
  if (!isPatience(milliseconds)) return setTimeout(callback, milliseconds, ...args);
  const over = beats + (enough * milliseconds) / rhythm;
  const timer = setTimeout(() => (beats < over ? timer.refresh() : callback(...args)), milliseconds);
  return timer;
}

function patientSignal(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const late = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  patientTimeout(late, milliseconds).unref();
  return controller.signal;
}

const mark = Symbol.for('holdfast: busy machine');

// A worker runs this for each file, and keeps what is global in between.
if (!(mark in setTimeout)) {
  setInterval(() => beats++, rhythm).unref();
  globalThis.setTimeout = Object.assign(patientTimeout, setTimeout, { [mark]: true }) as typeof setTimeout;
  AbortSignal.timeout = patientSignal;
  const { waitFor, waitUntil } = vi;
  vi.waitFor = (callback, options) => waitFor(callback, patient(options));
  vi.waitUntil = (callback, options) => waitUntil(callback, patient(options));
}
