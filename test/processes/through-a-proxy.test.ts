// In a network that reaches GitHub only through a proxy, which resolves its name and shows a certificate of its own.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { environmentFor, type ServiceProcess, startProcess } from '../support/process.ts';

const name = 'api.github.invalid';
const asked: string[] = [];
let folder: string;
let github: Sandbox;
let service: ServiceProcess;
const servers: Server[] = [];

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Opens the tunnels of a proxy to a port, whatever they ask for. */
const proxyTo = (port: number) =>
  createServer().on('connect', ({ url }, socket) => {
    asked.push(url!);
    const far = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    far.on('error', () => socket.destroy());
    socket.on('error', () => far.destroy());
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-proxy-'));
  const authority = join(folder, 'authority.pem');
  execFileSync(
    'openssl',
    `req -x509 -newkey rsa:2048 -nodes -subj /CN=${name} -addext subjectAltName=DNS:${name} -days 1 -keyout ${authority}.key -out ${authority}`.split(
      ' ',
    ),
    { stdio: 'ignore' },
  );
  github = await startSandbox();
  github.addUser('ada');
  github.addOrganization('acme', { admins: ['ada'] });
  github.addRepository('acme/web', { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest('acme/web', { author: 'ada' });
  github.install('acme');
  const tls = { key: readFileSync(`${authority}.key`), cert: readFileSync(authority) };
  const secure = createTlsServer(tls, (from, to) => {
    const options = { method: from.method, headers: from.headers };
    const onward = request(new URL(from.url!, github.url), options, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(to);
    });
    from.pipe(onward);
  });
  const proxy = await listen(proxyTo(await listen(secure)));
  await writeFile(join(folder, '.env'), '');
  service = startProcess(
    {
      ...environmentFor(github),
      GITHUB_API_URL: `https://${name}`,
      HTTPS_PROXY: `http://127.0.0.1:${proxy}`,
      NODE_EXTRA_CA_CERTS: authority,
      DATA_DIR: join(folder, 'data'),
    },
    folder,
  );
  github.deliverTo(`${await service.listening}/api/github/webhooks`);
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await service.ended;
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

test('statuses reach GitHub through the proxy, and nothing asks for its name itself', async () => {
  await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
  expect(new Set(asked)).toEqual(new Set([`${name}:443`]));
  expect(service.output()).not.toContain('ENOTFOUND');
});
