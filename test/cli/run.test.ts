import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
/** The server that gives the running program its exit code. */
let server: Server;
let whileItRuns: () => Promise<number | string>;
let asked = 0;
beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{}]);
  await acme.repository('infra', [{}], { protect: {} });
  server = createServer((_, response) => {
    asked++;
    void whileItRuns().then((told) => response.end(String(told)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => acme.quiet());
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  line.close();
});

/** A program that exits with the number that it is told, or by the signal. */
const program = () => [
  ...['--', process.execPath, '-e'],
  'fetch(process.argv[1]).then((it) => it.text()).then((said) => +said === +said ? process.exit(+said) : process.kill(process.pid, said))',
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
];
const run = ['run', '--freeze', 'acme/web', '-m', 'Deploying'];
/** Waits until it is told to end, or to go on. */
const onDemand = () => {
  const waiting: (() => void)[] = [];
  return {
    next: () => waiting.shift()!(),
    delay: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        // Like the machine's own timer, even if the program ended before the wait begins.
        const end = () => reject(new Error('done'));
        if (signal?.aborted) return end();
        waiting.push(resolve);
        signal?.addEventListener('abort', end);
      }),
  };
};
/** Machines are slow or busy. */
const eventually = (check: () => unknown) => vi.waitFor(check);
const freezes = async (repository = 'acme/web') =>
  (await line.holdfast(['list', repository, '--json']))
    .json()
    .freezes.map((each: { freeze: object }) => each.freeze);
const deletions = async () => {
  const { out } = await line.holdfast(['logs', 'acme/web', '--type', 'scheduled_freeze.delete', '--json']);
  return out
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row).metadata);
};

test('frozen with an end while it runs, and unfrozen after it; the exit code is the command’s', async () => {
  whileItRuns = async () => {
    await acme.quiet();
    expect(acme.frozen('acme/web')).toEqual([1]);
    expect(await freezes()).toMatchObject([
      { reason: 'Deploying', end: '2026-03-01T09:10:00', timezone: 'UTC' },
    ]);
    return 7;
  };
  const ran = await line.holdfast([...run, ...program()], onDemand());
  expect([ran.code, ran.out, ran.err]).toEqual([7, '', 'Frozen while it runs: acme/web.\n']);
  expect(await freezes()).toEqual([]);
  expect(JSON.stringify((await deletions()).at(-1))).toContain('ended with exit code 7');
  await acme.quiet();
  expect(acme.frozen('acme/web')).toEqual([]);
});

test('the end moves while it runs', async () => {
  const timer = onDemand();
  whileItRuns = async () => {
    await acme.advanceTo('2026-03-01T09:05:00Z');
    timer.next();
    await eventually(async () => expect(await freezes()).toMatchObject([{ end: '2026-03-01T09:15:00' }]));
    return 0;
  };
  expect((await line.holdfast([...run, ...program()], timer)).code).toBe(0);
});

test('a signal that ends the command gives the exit code of a shell', async () => {
  whileItRuns = async () => 'SIGTERM';
  expect((await line.holdfast([...run, ...program()], onDemand())).code).toBe(143);
  expect(await freezes()).toEqual([]);
});

test('if somebody ends the freeze while it runs, that counts, and the command goes on', async () => {
  const timer = onDemand();
  whileItRuns = async () => {
    const [freeze] = await freezes();
    await acme.remove('acme/web', freeze.id);
    timer.next();
    // It waits again when it has seen that.
    await eventually(() => timer.next());
    return 0;
  };
  const ran = await line.holdfast([...run, ...program()], timer);
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('Somebody ended the freeze of acme/web.')]);
});

test('if somebody moves its end while it runs, that counts: it stays until then', async () => {
  const timer = onDemand();
  whileItRuns = async () => {
    const [freeze] = await freezes();
    const extended = await line.holdfast(['extend', freeze.id, '--for', '3h', '--in', 'acme/web']);
    expect(extended.code, extended.err).toBe(0);
    timer.next();
    await eventually(() => timer.next());
    return 0;
  };
  const ran = await line.holdfast([...run, ...program()], timer);
  expect(ran.code).toBe(0);
  const [left] = await freezes();
  expect(left.end).toMatch(/^2026-03-01T12:/);
  expect(ran.err).toContain(`holdfast unfreeze ${left.id} --in acme/web`);
  expect((await line.holdfast(['unfreeze', left.id, '--in', 'acme/web', '-m', 'Over'])).code).toBe(0);
});

test('an end that somebody moved just before it ended stays as well', async () => {
  whileItRuns = async () => {
    const [freeze] = await freezes();
    await acme.update('acme/web', freeze.id, { end: null });
    return 0;
  };
  const ran = await line.holdfast([...run, ...program()], onDemand());
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('stays until somebody removes it')]);
  const [left] = await freezes();
  await acme.remove('acme/web', left.id);
});

test('a freeze that ended while this machine slept is made again', async () => {
  const timer = onDemand();
  whileItRuns = async () => {
    const [first] = await freezes();
    await acme.advanceTo('2026-03-01T09:40:00Z');
    expect(acme.frozen('acme/web')).toEqual([]);
    timer.next();
    await eventually(async () => expect(await freezes()).toMatchObject([{ end: '2026-03-01T09:50:00' }]));
    expect((await freezes())[0].id).not.toBe(first.id);
    return 0;
  };
  const ran = await line.holdfast([...run, ...program()], timer);
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('ran out before it could be renewed')]);
  expect(await freezes()).toEqual([]);
});

test('an outage of the service while it runs does not stop the command, and is printed', async () => {
  const timer = onDemand();
  let isAway = false;
  const ways = createServer((request, response) => {
    if (isAway) return void request.socket.destroy();
    const headers = request.headers as Record<string, string>;
    request.pipe(
      httpRequest(acme.app.url + request.url!, { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(ways, 'listening');
  whileItRuns = async () => {
    isAway = true;
    timer.next();
    return 5;
  };
  const env = { HOLDFAST_URL: `http://127.0.0.1:${(ways.address() as AddressInfo).port}` };
  const delay = (length: number, signal?: AbortSignal) =>
    signal ? timer.delay(length, signal) : Promise.resolve();
  const ran = await line.holdfast([...run, ...program()], { env, delay });
  ways.closeAllConnections();
  ways.close();
  expect(ran.code).toBe(5);
  expect(ran.err).toContain('could not be ended, so it ends by itself within 10 minutes');
  const [left] = await freezes();
  await acme.remove('acme/web', left.id);
});

test('it warns that nothing enforces the freeze, and the output is only the command’s', async () => {
  whileItRuns = async () => 0;
  const ran = await line.holdfast(['run', '--freeze', 'acme/infra', '-m', 'x', ...program()], onDemand());
  expect([ran.code, ran.out]).toEqual([0, '']);
  expect(ran.err).toContain('Warning: acme/infra: Nothing enforces this freeze on main');
});

test('a missing command: 2, and nothing stays frozen', async () => {
  const ran = await line.holdfast([...run, '--', '/nowhere/deploy'], onDemand());
  expect([ran.code, ran.err]).toEqual([2, expect.stringContaining('/nowhere/deploy could not be run')]);
  expect(await freezes()).toEqual([]);
});

test('with --wait it begins when GitHub holds, and not if GitHub cannot', async () => {
  asked = 0;
  whileItRuns = async () => {
    expect(acme.frozen('acme/web')).toEqual([1]);
    return 0;
  };
  const timer = onDemand();
  const delay = (length: number, signal?: AbortSignal) =>
    length === 1000 ? acme.quiet() : timer.delay(length, signal);
  expect((await line.holdfast([...run, '--wait', ...program()], { delay })).code).toBe(0);
  expect(asked).toBe(1);
  const bare = await line.holdfast([...run, '--freeze', 'acme/infra', '--wait', ...program()], { delay });
  expect([bare.code, bare.out, asked]).toEqual([1, '', 1]);
  expect(bare.err).toContain(
    'acme/infra is not enforced. What to do in acme/infra: holdfast doctor acme/infra',
  );
  expect([await freezes(), await freezes('acme/infra')]).toEqual([[], []]);
});

test('it does not begin if a freeze is refused, and none of the others stays', async () => {
  asked = 0;
  const ran = await line.holdfast([...run, '--freeze', 'acme/nowhere', ...program()], onDemand());
  expect([ran.code, asked, await freezes()]).toEqual([1, 0, []]);
});

test.each([
  [['run', '-m', 'x', '--', 'true'], 'Name what to freeze'],
  [[...run, '--lease', '1m', '--', 'true'], 'must be at least two minutes'],
  [[...run], "missing required argument 'command'"],
])('%j is used wrongly', async (words, why) => {
  const ran = await line.holdfast(words);
  expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(why)]);
});
