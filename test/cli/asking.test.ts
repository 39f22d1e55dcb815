import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveAddress } from '../../src/cli/service/connection.ts';
import { settingsFolder, stateFolder } from '../../src/cli/memory.ts';
import { credentialOf } from '../../src/cli/service/connection.ts';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineFor(acme, acme.admin);
  await acme.repository('web', [{}]);
});
afterAll(() => line.close());

describe('the address and the credential', () => {
  test('login saves the address for a host, in a file that nobody else can read', async () => {
    const nowhere = { HOLDFAST_URL: undefined };
    const before = await line.holdfast(['list', 'acme'], { env: nowhere });
    expect([before.code, before.err]).toEqual([2, expect.stringContaining('holdfast login https://')]);
    const kept = await line.holdfast(['login', `${acme.app.url}/v1/`], { env: nowhere });
    expect([kept.code, kept.out]).toEqual([
      0,
      expect.stringContaining(`Holdfast answers at ${acme.app.url},`),
    ]);
    expect((await line.holdfast(['list', 'acme'], { env: nowhere })).code).toBe(0);
    const file = join(line.home, '.config/holdfast/config.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      hosts: { 'github.com': { url: acme.app.url } },
    });
    const other = { ...nowhere, GH_HOST: 'github.example.com' };
    expect((await line.holdfast(['list', 'acme'], { env: other })).code).toBe(2);
    expect((await line.holdfast(['login', acme.app.url], { env: other })).code).toBe(0);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).hosts)).toEqual([
      'github.com',
      'github.example.com',
    ]);
  });

  test('login saves nothing if nothing answers', async () => {
    const none = await line.holdfast(['login', 'http://127.0.0.1:9', '--host', 'none.example']);
    expect([none.code, none.err]).toEqual([
      2,
      expect.stringContaining('does not answer at http://127.0.0.1:9'),
    ]);
    expect((await line.holdfast(['login', 'holdfast.example.com'])).err).toContain(
      'is not the address of a Holdfast',
    );
  });

  test('broken settings are named', async () => {
    const broken = commandLineFor(acme);
    saveAddress({ env: {}, home: broken.home, platform: 'linux' } as never, 'github.com', acme.app.url);
    const file = join(broken.home, '.config/holdfast/config.json');
    for (const [content, why] of [
      [Buffer.from('{'), 'does not hold a JSON object. Repair it, or delete it.'],
      [Buffer.from('\uFEFF{}', 'utf16le'), 'is in UTF-16, as PowerShell writes it. Save it in UTF-8.'],
    ] as const) {
      writeFileSync(file, content);
      const said = await broken.holdfast(['list', 'acme'], { env: { HOLDFAST_URL: undefined } });
      expect([said.code, said.err]).toEqual([2, `${file} ${why}\n`]);
    }
    broken.close();
  });

  test('it uses the token of gh if there is no other, for the right host and without a shell', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-gh-'));
    const person = acme.github.addToken('ada');
    const script = `#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo ${person}\n`;
    writeFileSync(join(folder, 'gh'), script);
    chmodSync(join(folder, 'gh'), 0o755);
    const env = { HOLDFAST_TOKEN: undefined, PATH: `${folder}:${process.env['PATH']}` };
    expect((await line.holdfast(['list', 'acme'], { env })).code).toBe(0);
    const url = 'http://holdfast.invalid';
    const refused = await line.holdfast(['list', 'acme', '--url', url], { env });
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining(`Others on the way to ${url} could read your token of gh`),
    ]);
    const world = { env: { ...env, GH_HOST: 'github.com' } } as never;
    expect(await credentialOf(world, url, undefined, true)).toBe(person);
    expect(await credentialOf(world, url, 'hf_admin_given')).toBe('hf_admin_given');
    const elsewhere = { ...env, GH_HOST: 'github.example.com' };
    const none = await line.holdfast(['list', 'acme'], { env: elsewhere });
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('There is no credential. Sign in')]);
    rmSync(folder, { recursive: true });
  });

  test('in a job of GitHub Actions, it uses the token of the job if there is no other', async () => {
    const asked: string[] = [];
    const actions = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization}`);
      response.end(JSON.stringify({ value: acme.admin }));
    }).listen(0, '127.0.0.1');
    await once(actions, 'listening');
    const job = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(actions.address() as AddressInfo).port}/?v=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    };
    expect((await line.holdfast(['list', 'acme'], { env: job })).code).toBe(0);
    expect(asked).toEqual([]);
    const said = await line.holdfast(['list', 'acme'], { env: { ...job, HOLDFAST_TOKEN: undefined } });
    expect([said.code, said.err]).toEqual([0, '']);
    expect(asked).toEqual([`/?v=2&audience=${encodeURIComponent(acme.app.url)} Bearer of-the-job`]);
    actions.closeAllConnections();
    actions.close();
    const none = await line.holdfast(['list', 'acme'], { env: { ...job, HOLDFAST_TOKEN: undefined } });
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('no token now')]);
  });

  test.each([['two words'], ['“hf_admin_s3cret”']])(
    'the token %s is neither sent nor printed',
    async (token) => {
      const said = await line.holdfast(['list', 'acme', '--token', token]);
      expect([said.code, said.err]).toEqual([
        2,
        expect.stringContaining('contains characters that no credential has'),
      ]);
      expect(said.err).not.toContain('s3cret');
    },
  );

  test.each([
    ['linux', {}, '/home/ada/.config/holdfast', '/home/ada/.local/state/holdfast'],
    ['darwin', { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' }, '/c/holdfast', '/s/holdfast'],
    [
      'linux',
      { XDG_CONFIG_HOME: 'relative' },
      '/home/ada/.config/holdfast',
      '/home/ada/.local/state/holdfast',
    ],
    ['win32', { APPDATA: 'C:\\R', LOCALAPPDATA: 'C:\\L' }, 'C:\\R\\holdfast', 'C:\\L\\holdfast'],
  ] as const)('on %s with %o', (platform, env, settings, state) => {
    const machine = { env, platform, home: '/home/ada' };
    expect([settingsFolder(machine), stateFolder(machine)]).toEqual([settings, state]);
  });
});

/** A service that answers as it is told, one answer after the other; the last one again and again. */
async function answering(
  answers: ((request: IncomingMessage, response: ServerResponse) => void)[],
  meet: (url: string, seen: IncomingMessage[]) => Promise<void>,
) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answers[Math.min(seen.length, answers.length) - 1]!(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Below a path: answers at /v1 of this process are compared with the document.
  await meet(`http://127.0.0.1:${(server.address() as AddressInfo).port}/below`, seen);
  server.closeAllConnections();
  server.close();
}

const answer =
  (status: number, body?: unknown, headers = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
const hangUp = (request: IncomingMessage) => void request.socket.destroy();
const freeze = {
  id: '0b7d1c57-4a0c-4f0e-8d5e-0f1b7f0a1f6e',
  reason: 'x',
  start: '2026-03-01T10:00:00',
  end: null,
};

describe('trying again', () => {
  const waits: number[] = [];
  const patient = { delay: async (milliseconds: number) => void waits.push(milliseconds) };

  test('a POST is the same each time, waits as the service says, and happens once', async () => {
    const tries = [
      hangUp,
      answer(503, { detail: 'Later.' }, { 'Retry-After': '7' }),
      answer(429, { detail: 'Slow.' }),
    ];
    await answering([...tries, answer(201, freeze)], async (url, seen) => {
      waits.length = 0;
      const made = await line.holdfast(['freeze', 'acme/web', '-m', 'x', '--url', url], patient);
      expect(made.code, made.err).toBe(0);
      expect(waits).toEqual([500, 7000, 1000]);
      expect(seen).toHaveLength(4);
      expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      expect(seen[0]!.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
      expect(seen[0]!.headers['user-agent']).toMatch(/^holdfast-cli\/\d/);
    });
  });

  test('a refusal is not retried', async () => {
    await answering(
      [answer(409, { detail: 'The resource changed at the same time.' })],
      async (url, seen) => {
        const said = await line.holdfast(['freeze', 'acme/web', '-m', 'x', '--url', url], patient);
        expect([said.code, seen.length]).toEqual([1, 1]);
        expect(said.err).toContain('The resource changed at the same time.');
      },
    );
  });

  test('if the service is down for long, or asks for too long a wait, the outcome is not known: 2', async () => {
    await answering([answer(503, { detail: 'The database does not answer.' })], async (url, seen) => {
      const said = await line.holdfast(['list', 'acme/web', '--url', url], patient);
      expect([said.code, seen.length]).toEqual([2, 5]);
      expect(said.err).toContain('The database does not answer.');
    });
    await answering([answer(503, { detail: 'Later.' }, { 'Retry-After': '3600' })], async (url, seen) => {
      expect((await line.holdfast(['list', 'acme/web', '--url', url], patient)).code).toBe(2);
      expect(seen).toHaveLength(1);
    });
    const gone = await line.holdfast(['list', 'acme/web', '--url', 'http://127.0.0.1:9'], patient);
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('Start it, or name it with --url')]);
  });

  test.each([502, 503, 504])('%i of a proxy is retried', async (status) => {
    const page = (_: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(status, { 'Content-Type': 'text/html' }).end('<html>');
    await answering([page, answer(200, { scheduled_freezes: [] })], async (url) => {
      expect((await line.holdfast(['list', 'acme/web', '--url', url], patient)).code).toBe(0);
    });
    await answering([page], async (url, seen) => {
      const said = await line.holdfast(['list', 'acme/web', '--url', url], patient);
      expect([said.code, seen.length]).toEqual([2, 5]);
      expect(said.err).toContain(`${url} answers ${status} and does not say why. It may be starting`);
    });
  });

  test('a repeated POST that the service still works on is retried until it is done', async () => {
    const busy = answer(409, { detail: 'Another request with this Idempotency-Key is in progress.' });
    await answering([hangUp, busy, busy, answer(201, freeze)], async (url, seen) => {
      const made = await line.holdfast(['freeze', 'acme/web', '-m', 'x', '--url', url], patient);
      expect([made.code, seen.length]).toEqual([0, 4]);
    });
  });

  test('a freeze that was made is named, even if something about it is not known', async () => {
    await answering([answer(201, freeze), hangUp], async (url) => {
      let time = 0;
      const words = ['freeze', 'acme/web', '-m', 'x', '--url', url, '--wait', '--timeout', '1m', '--json'];
      const made = await line.holdfast(words, {
        now: () => time,
        delay: async (milliseconds) => void (time += milliseconds),
      });
      expect(made.code).toBe(2);
      expect(made.json()).toMatchObject({ freeze: { id: freeze.id }, error: expect.any(String) });
      // It did not give up at the first silence.
      expect(time).toBeGreaterThan(60_000);
    });
  });

  test('what GitHub did not say in time is asked again', async () => {
    const pull_requests = { to_hold: 1, held: 1 };
    const instant = { mode: 'off', state: 'off', since: null, error: null };
    const known = { switched_on: true, enforced: true, pull_requests, leaking: [], not_held: [], instant };
    const settled = { ...known, waiting_writes: 0, look_due: false };
    const unknown = answer(200, { ...settled, enforced: 'unknown' });
    const words = ['freeze', 'acme/web', '-m', 'x', '--wait'];
    await answering([answer(201, freeze), unknown, answer(200, settled)], async (url) => {
      const made = await line.holdfast([...words, '--url', url], patient);
      expect([made.code, made.out]).toEqual([0, expect.stringContaining('acme/web\theld\t1 of 1')]);
    });
    await answering([answer(201, freeze), unknown], async (url) => {
      const made = await line.holdfast([...words, '--url', url], patient);
      expect([made.code, made.out]).toEqual([2, expect.stringContaining('acme/web\tunknown')]);
    });
    // The wait says how long it takes, and a ruleset ends it.
    const off = { ...settled, not_held: [{ pull_request: 1, reason: 'waiting' }], seconds_until_held: 480 };
    const on = { ...off, instant: { ...instant, state: 'on' }, seconds_until_held: 0 };
    await answering([answer(201, freeze), answer(200, off), answer(200, on)], async (url) => {
      const made = await line.holdfast([...words, '--url', url], patient);
      expect([made.code, made.err]).toEqual([0, expect.stringContaining('are done, about 8 min left.')]);
    });
  });

  test('logs --follow outlives a restart of the service', async () => {
    const event = { id: 1, received_at: 'then', type: 'freeze.bypassed', metadata: {} };
    const none = answer(200, { events: [] });
    const away = Array.from({ length: 6 }, () => hangUp);
    await answering([none, ...away, answer(200, { events: [event] }), none], async (url) => {
      let looks = 0;
      const said = await line.holdfast(['logs', 'acme', '--follow', '--json', '--url', url], {
        // Somebody stops it, in the end.
        delay: async () => {
          if (++looks > 20) throw new Error('enough');
        },
      });
      expect(said.out.split('\n')[0]).toBe(JSON.stringify(event));
      expect(said.err.match(/Trying again/g)).toHaveLength(1);
    });
  });

  test('a secret that was lost on the way is not printed', async () => {
    await answering([hangUp, answer(201, { id: freeze.id, secret: null })], async (url) => {
      const words = ['keys', 'create', 'acme', '--name', 'x', '--scope', 'ci', '--url', url];
      const made = await line.holdfast(words, patient);
      expect([made.code, made.out]).toEqual([2, '']);
      expect(made.err).toContain(`holdfast keys revoke acme ${freeze.id}`);
    });
  });

  test('a DELETE whose answer was lost is done', async () => {
    await answering([hangUp, answer(404, { detail: 'No such key.' })], async (url) => {
      expect((await line.holdfast(['keys', 'revoke', 'acme', freeze.id, '--url', url], patient)).code).toBe(
        0,
      );
    });
    await answering([answer(404, { detail: 'No such key.' })], async (url) => {
      expect((await line.holdfast(['keys', 'revoke', 'acme', freeze.id, '--url', url], patient)).code).toBe(
        1,
      );
    });
  });

  test.each(['<html>Sign in</html>', ''])(
    'a service that answers %j instead of JSON is not Holdfast',
    async (text) => {
      await answering([(_, response) => void response.writeHead(200).end(text)], async (url) => {
        for (const words of [
          ['list', 'acme'],
          ['freeze', 'acme', '--all', '-m', 'x'],
        ]) {
          const said = await line.holdfast([...words, '--json', '--url', url]);
          expect(said.code).toBe(2);
          expect(said.json()).toEqual({ error: expect.stringContaining('is not Holdfast'), status: 200 });
          expect(said.err).toContain('--url or HOLDFAST_URL');
        }
      });
    },
  );

  test('an answer of another shape is an unknown outcome, and a bug to report', async () => {
    await answering([answer(200, {})], async (url) => {
      const said = await line.holdfast(['list', 'acme', '--json', '--url', url]);
      expect([said.code, said.json()]).toEqual([2, { error: expect.stringContaining('report this') }]);
    });
  });

  test('a service that lacks the route is older than this command', async () => {
    const lacking = await acme.call('GET', '/v1/no-such-route');
    await answering([answer(lacking.status, lacking.body)], async (url) => {
      const said = await line.holdfast(['freeze', 'acme', '--all', '-m', 'x', '--url', url]);
      expect([said.code, said.err]).toEqual([1, expect.stringContaining('is older than this command')]);
    });
  });

  test('a service that is not Holdfast is named; redirects and next pages send the credential nowhere else', async () => {
    await answering([(_, response) => void response.writeHead(404).end('<html>')], async (url) => {
      const said = await line.holdfast(['list', 'acme/web', '--url', url]);
      expect([said.code, said.err]).toEqual([2, expect.stringContaining('answers 404 and does not say why')]);
    });
    await answering([answer(302, undefined, { Location: acme.app.url })], async (url) => {
      expect((await line.holdfast(['list', 'acme/web', '--url', url], patient)).code).toBe(2);
    });
    const elsewhere = { Link: '<https://elsewhere.example/v1/logs/acme?cursor=2&per_page=100>; rel="next"' };
    await answering(
      [answer(200, { events: [] }, elsewhere), answer(200, { events: [] })],
      async (url, seen) => {
        expect((await line.holdfast(['logs', 'acme', '--url', url])).code).toBe(0);
        expect(seen.map((each) => each.url)).toEqual([
          expect.stringContaining('/below/v1/logs/acme?'),
          '/below/v1/logs/acme?cursor=2&per_page=100',
        ]);
      },
    );
  });
});

test('an address with a secret is refused, and not printed', async () => {
  for (const url of ['http://ada:s3cret@host', 'http://:s3cret@host', 'https://host/?token=s3cret']) {
    const said = await line.holdfast(['list', 'acme', '--url', url, '--json']);
    expect([said.code, said.err]).toEqual([2, expect.stringContaining('has no user, password')]);
    expect(said.out + said.err).not.toContain('s3cret');
  }
});

test('it warns that others can read the credential, except for this machine and https', async () => {
  for (const [url, isSaid] of [
    ['http://holdfast.invalid:3000', true],
    ['https://holdfast.invalid', false],
    ['http://localhost:9', false],
    ['http://127.0.0.1:9', false],
    ['http://[::1]:9', false],
  ] as const) {
    for (const words of [
      ['list', 'acme'],
      ['doctor', 'acme/web'],
    ]) {
      const { err } = await line.holdfast([...words, '--url', url], { delay: async () => {} });
      expect([words, url, err.includes('can read your credential. Use https')]).toEqual([words, url, isSaid]);
    }
  }
});

test('with --json, errors about usage are JSON, too', async () => {
  for (const words of [['frezee'], ['list'], ['freeze', 'acme/web'], ['plans']]) {
    const said = await line.holdfast([...words, '--json']);
    expect([said.code, said.json()]).toEqual([2, { error: expect.any(String) }]);
  }
  const other = await line.holdfast(['run', '--freeze', 'acme', '-m', 'x', '--', 'jq', '--json']);
  expect([other.code, other.out]).toEqual([2, '']);
});

test('texts of the service cannot control the terminal', async () => {
  await answering(
    [answer(200, { applications: [{ name: '\u009b31m\u202e', created_by: {} }] })],
    async (url) => {
      const said = await line.holdfast(['keys', 'list', 'acme', '--json', '--url', url], { isTTY: true });
      expect(said.out).toContain('\\u009b31m\\u202e');
      expect(said.json().applications[0].name).toBe('\u009b31m\u202e');
    },
  );
  await answering([answer(403, { detail: 'red \u001b[31m' })], async (url) => {
    const said = await line.holdfast(['list', 'acme/web', '--url', url], { isTTY: true });
    expect(said.err).toContain('red \uFFFD[31m');
  });
});

test('help is 0 and shows examples, a wrong word is 2', async () => {
  const help = await line.holdfast(['freeze', '--help']);
  expect([help.code, help.err]).toEqual([0, '']);
  expect(help.out).toContain('$ holdfast freeze acme --all --for 2h -m "INC-4711" --wait');
  expect(help.out).toContain('Global Options:');
  expect((await line.holdfast(['freze'])).code).toBe(2);
  expect((await line.holdfast(['list', 'acme', '--nosuch'])).code).toBe(2);
  expect((await line.holdfast([])).code).toBe(2);
  expect((await line.holdfast(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
