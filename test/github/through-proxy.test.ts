// Requests to what the settings name. A tunnel with TLS is tried in test/processes/through-a-proxy.test.ts.
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchThroughProxy } from '../../src/github/through-proxy.ts';
import { useSockets } from '../support/inside.ts';

useSockets();
let proxy: Server;
let httpProxy: string;
beforeAll(async () => {
  proxy = createServer(({ url }, response) => response.end(`through: ${url}`));
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  httpProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(() => {
  proxy.closeAllConnections();
  proxy.close();
});

test.each([
  ['a name that only the proxy knows', 'http://github.invalid/api/v3', '', true],
  ['a host of NO_PROXY', 'http://github.invalid/api/v3', 'github.invalid', false],
  ['a host below a domain of NO_PROXY', 'http://github.invalid/api/v3', '.invalid', false],
])('%s', async (_, url, noProxy, isThrough) => {
  const asking = fetchThroughProxy({ httpProxy, httpsProxy: null, noProxy })(url);
  if (isThrough) expect(await (await asking).text()).toBe(`through: ${url}`);
  else await expect(asking).rejects.toThrow('fetch failed');
});

test('the service sends no request past the proxies', () => {
  const service = globSync('src/**/*.ts', { exclude: ['src/generated/**', 'src/cli/**'] });
  const sends = (file: string) => /(await|return|=>?|\?|:) fetch\(/.test(readFileSync(file, 'utf8'));
  expect(service.filter(sends)).toEqual(['src/github/through-proxy.ts']);
});
