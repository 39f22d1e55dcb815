import { expect, onTestFinished, test, vi } from 'vitest';
import { inLine, inTurn } from '../../src/plans/source/owner-turns.ts';
import { readerWith, readInWorker } from '../../src/plans/source/read-in-worker.ts';
import { SourceUnreadable } from '../../src/plans/source/source-window.ts';
import { inThreads, NoAnswer } from '../../src/time/threads.ts';

const now = new Date('2026-11-15T00:00:00Z');
/** Milliseconds in which a thread that gets little of the machine comes to its end. */
const longEnough = 120_000;
const questionOf = (text: string) => ({
  bytes: Buffer.from(text),
  charset: null,
  titles: null,
  timezone: 'Europe/Paris',
  now,
});
const read = (text: string) => readInWorker(questionOf(text));
const file = (...events: string[][]) =>
  [
    'BEGIN:VCALENDAR',
    ...events.flatMap((lines, at) => ['BEGIN:VEVENT', `UID:${at}`, ...lines, 'END:VEVENT']),
    'END:VCALENDAR',
    '',
  ].join('\r\n');

test('a thread reads a calendar, and says what its events and warnings are', async () => {
  const { windows, warnings } = await read(file(['DTSTART;TZID=Mars:20261224T100000', 'DURATION:PT1H']));
  expect(windows).toEqual([
    { key: expect.any(String), start: '2026-12-24T09:00:00Z', end: '2026-12-24T10:00:00Z' },
  ]);
  expect(warnings).toHaveLength(1);
});

test('what is unreadable says why', async () => {
  const refused = await read('<html>').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SourceUnreadable);
  expect((refused as Error).message).toMatch(/not an iCalendar file/);
});

test('a calendar that takes long is given up, and the process does other work meanwhile', async () => {
  // Each of these rules asks 2,000 years of days in vain.
  const rule = 'RRULE:FREQ=DAILY;COUNT=9999999;BYMONTH=2;BYMONTHDAY=30';
  const bomb = Array.from({ length: 5000 }, () => ['DTSTART:00010101T100000Z', 'DURATION:PT1H', rule]);
  let turns = 0;
  const other = setInterval(() => (turns += 1), 1);
  await expect(read(file(...bomb))).rejects.toThrow(/takes more than 2 s to read/);
  clearInterval(other);
  expect(turns).toBeGreaterThan(10);
  expect((await read(file(['DTSTART:20261224']))).windows).toHaveLength(1);
});

test('a calendar that needs much memory is given up, and the next one is read', async () => {
  // On a busy machine a thread needs longer for so much than the two seconds that it has.
  const { setTimeout } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    callback: (...args: unknown[]) => void,
    milliseconds: number,
    ...args: unknown[]
  ) =>
    setTimeout(callback, milliseconds === 2000 ? longEnough : milliseconds, ...args)) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  const readWithLittle = readerWith({ maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 });
  const small = file(['DTSTART:20261224']);
  expect((await readWithLittle(questionOf(small))).windows).toHaveLength(1);
  const dates = `RDATE:${Array(900).fill('20261201T090000Z').join(',')}`;
  const large = file(...Array.from({ length: 300 }, () => ['DTSTART:20261201T090000Z', dates]));
  await expect(readWithLittle(questionOf(large))).rejects.toThrow(/needs too much memory to read/);
  expect((await readWithLittle(questionOf(small))).windows).toHaveLength(1);
});

/** A thread that does this for each question. */
const thread = (does: string) =>
  inThreads<unknown, unknown>(
    new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from 'node:worker_threads';
        parentPort.on('message', (question) => { ${does} });
        parentPort.postMessage(null);`)}`,
    ),
    { atOnce: 1, patience: longEnough, maxOldGenerationSizeMb: 16 },
  );

test('a thread that grows without end is ended', async () => {
  const refused = await thread('for (const all = []; ; ) all.push({});')('grow').catch(
    (error: unknown) => error,
  );
  expect(refused).toBeInstanceOf(NoAnswer);
  expect(refused).toMatchObject({ why: 'large' });
});

test('what a thread prints goes nowhere', async () => {
  const written = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(() => true),
  );
  const ask = thread(
    `console.log('out'); console.error('err'); process.stdout.write('out'); parentPort.postMessage(question);`,
  );
  for (let count = 0; count < 5; count++) expect(await ask(count)).toBe(count);
  const printed = written.flatMap((spy) => spy.mock.calls.map(([text]) => String(text)));
  vi.restoreAllMocks();
  expect(printed.filter((text) => /out|err/.test(text))).toEqual([]);
});

test('an owner reads one calendar at a time, and no other owner waits for it', async () => {
  const begun: string[] = [];
  const first = Promise.withResolvers<null>();
  const reading =
    (name: string, until: Promise<null> = Promise.resolve(null)) =>
    () => {
      begun.push(name);
      return until;
    };
  const all = [
    inTurn(1n, reading('first', first.promise)),
    inTurn(1n, reading('second')),
    inTurn(2n, reading('of another owner')),
  ];
  await all[2];
  expect([begun, inLine(1n), inLine(2n)]).toEqual([['first', 'of another owner'], 2, 0]);
  first.reject(new Error('away'));
  await expect(all[0]).rejects.toThrow('away');
  await all[1];
  expect(begun.at(-1)).toBe('second');
  await vi.waitFor(() => expect(inLine(1n)).toBe(0));
});
