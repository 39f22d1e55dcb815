import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type LookupFunction } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  AddressRefused,
  askDns,
  checkAddress,
  checkReachable,
  createPublicAgent,
  fetchPublic,
} from '../../src/notices/public-address.ts';
import type { Config } from '../../src/config.ts';

const none = { webhookAllowedHosts: [], httpProxy: null, httpsProxy: null, noProxy: '' };
const post = { method: 'POST', headers: {}, body: '{}', signal: AbortSignal.timeout(10_000) } as const;

function refusal(check: () => unknown): string {
  try {
    check();
    return 'passes';
  } catch (error) {
    expect(error).toBeInstanceOf(AddressRefused);
    return (error as Error).message;
  }
}

describe('an address, by its text', () => {
  const isPrivate = /is not a public address\. If it is meant, .* WEBHOOK_ALLOWED_HOSTS/;
  test.each<[string, string, RegExp]>([
    ['no address', 'example.com/hook', /This is not an address/],
    ['another scheme', 'ftp://example.com/', /This is not an address/],
    ['a file', 'file:///etc/passwd', /This is not an address/],
    ['plain http', 'http://example.com/', /must begin with https:.*WEBHOOK_ALLOWED_HOSTS/],
    ['a user', 'https://me@example.com/', /user name or password/],
    ['a password', 'https://:pw@example.com/', /user name or password/],
    ['a low port', 'https://example.com:22/', /Port 22 is not allowed/],
    ['port 0', 'https://example.com:0/', /Port 0 is not allowed/],
    ['loopback', 'https://127.0.0.1/', isPrivate],
    ['loopback, short', 'https://127.1/', isPrivate],
    ['loopback, decimal', 'https://2130706433/', isPrivate],
    ['loopback, octal', 'https://017700000001/', isPrivate],
    ['loopback, hexadecimal', 'https://0x7f.0.0.1/', isPrivate],
    ['loopback, escaped', 'https://%31%32%37.0.0.1/', isPrivate],
    ['loopback, with a dot at the end', 'https://127.0.0.1./', isPrivate],
    ['unspecified', 'https://0.0.0.0/', isPrivate],
    ['private 10', 'https://10.1.2.3/', isPrivate],
    ['private 172', 'https://172.16.0.1/', isPrivate],
    ['private 192', 'https://192.168.1.1/', isPrivate],
    ['shared by a provider', 'https://100.64.0.1/', isPrivate],
    ['the metadata of a cloud', 'https://169.254.169.254/latest/', isPrivate],
    ['the host of a virtual machine of Azure', 'https://168.63.129.16/', isPrivate],
    ['the same in IPv6', 'https://[::ffff:168.63.129.16]/', isPrivate],
    ['multicast', 'https://224.0.0.1/', isPrivate],
    ['broadcast', 'https://255.255.255.255/', isPrivate],
    ['documentation', 'https://192.0.2.1/', isPrivate],
    ['benchmarks', 'https://198.18.0.1/', isPrivate],
    ['reserved', 'https://240.0.0.1/', isPrivate],
    ['IPv6 loopback', 'https://[::1]/', isPrivate],
    ['IPv6 unspecified', 'https://[::]/', isPrivate],
    ['IPv6 unique local', 'https://[fd00:ec2::254]/', isPrivate],
    ['IPv6 link local', 'https://[fe80::1]/', isPrivate],
    ['IPv6 multicast', 'https://[ff02::1]/', isPrivate],
    ['IPv6 documentation', 'https://[2001:db8::1]/', isPrivate],
    ['IPv6 Teredo', 'https://[2001:0:4136:e378::]/', isPrivate],
    ['IPv4 mapped to IPv6', 'https://[::ffff:127.0.0.1]/', isPrivate],
    ['IPv4 compatible with IPv6', 'https://[::127.0.0.1]/', isPrivate],
    ['IPv4 translated', 'https://[::ffff:0:127.0.0.1]/', isPrivate],
    ['NAT64', 'https://[64:ff9b::10.0.0.1]/', isPrivate],
    ['NAT64 of one network', 'https://[64:ff9b:1::10.0.0.1]/', isPrivate],
    ['6to4', 'https://[2002:7f00:1::]/', isPrivate],
    ['outside of what is given out', 'https://[4000::1]/', isPrivate],
  ])('%s is refused: %s', (_, address, why) => {
    expect(refusal(() => checkAddress(address, []))).toMatch(why);
  });

  test.each([
    'https://example.com/hook',
    'https://example.com:80/',
    'https://example.com:8443/',
    'https://203.0.114.9/',
    'https://[2606:4700::1111]/',
    'https://[64:ff9b::808:808]/',
    'https://[2002:808:808::]/',
  ])('%s passes', (address) => {
    expect(checkAddress(address, []).href).toBe(address);
  });

  test.each<[string, string, boolean]>([
    ['http://chat.corp.example/hook', 'chat.corp.example', true],
    ['http://CHAT.corp.example./hook', 'chat.corp.example', true],
    ['http://a.b.internal/', '*.internal', true],
    ['http://internal/', '*.internal', false],
    ['http://10.1.2.3:8065/', '10.1.2.3', true],
    ['http://10.1.2.3/', '10.1.0.0/16', true],
    ['http://10.2.2.3/', '10.1.0.0/16', false],
    ['http://[::ffff:10.1.2.3]/', '10.1.2.3', true],
    ['http://[fd00::1]/', 'fd00::/8', true],
    ['http://10.1.2.3/', 'fd00::/8', false],
    ['http://10.1.2.3/', '10.1.*', false],
  ])('%s with %s allowed: %s', (address, allowed, passes) => {
    expect(refusal(() => checkAddress(address, [allowed])) === 'passes').toBe(passes);
  });

  test('user info and low ports are refused for allowed hosts too, and the path is in no refusal', () => {
    expect(refusal(() => checkAddress('http://me@chat/', ['chat']))).toMatch(/user name/);
    expect(refusal(() => checkAddress('http://chat:25/', ['chat']))).toMatch(/Port 25/);
    expect(refusal(() => checkAddress('https://10.0.0.1/s3cret', []))).not.toContain('s3cret');
  });
});

/** DNS whose answers a test gives, one after another; the last one stays. */
function dns(...answers: string[][]): LookupFunction & { asked: number } {
  const resolve = Object.assign(
    ((_name, _options, callback) => {
      const addresses = answers[Math.min(resolve.asked++, answers.length - 1)]!;
      if (addresses.length === 0)
        callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []);
      else
        callback(
          null,
          addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        );
    }) as LookupFunction,
    { asked: 0 },
  );
  return resolve;
}

describe('a name', () => {
  let server: Server;
  let port: number;
  const seen: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(`${request.headers.host}${request.url}`);
      if (request.url === '/away') response.writeHead(302, { location: '/stolen' });
      response.end('x'.repeat(1000));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const posting = async (resolve: LookupFunction, allowed: string[], path = '/') => {
    const agent = await createPublicAgent({ ...none, webhookAllowedHosts: allowed }, resolve);
    try {
      const answer = await askDns(agent, new URL(`http://hook.example:${port}${path}`), post);
      await answer.drop();
      return answer.status;
    } finally {
      await agent.destroy();
    }
  };

  test.each([
    ['private', [['127.0.0.1']]],
    ['private in IPv6', [['::1']]],
    ['mapped', [['::ffff:127.0.0.1']]],
    ['public and private', [['203.0.114.9', '127.0.0.1']]],
    ['of the host at Azure', [['168.63.129.16']]],
  ])('that resolves to what is %s is refused when it is saved and when we connect', async (_, answers) => {
    const refused = checkReachable('https://hook.example/', [], dns(...answers));
    await expect(refused).rejects.toThrow(
      /hook\.example resolves to .*, which is not a public address.*WEBHOOK_ALLOWED_HOSTS/,
    );
    // Who asks does not learn where our names are.
    for (const address of answers.flat()) await expect(refused).rejects.not.toThrow(address);
    await expect(posting(dns(...answers), [])).rejects.toThrow(AddressRefused);
    expect(seen).toEqual([]);
  });

  test('that changes between the look-ups is judged at each connection', async () => {
    const resolve = dns(['203.0.114.9'], ['127.0.0.1']);
    await checkReachable('https://hook.example/', [], resolve);
    await expect(posting(resolve, [])).rejects.toThrow(AddressRefused);
    expect(resolve.asked).toBe(2);
  });

  test('is resolved once for a connection: what was judged is connected to', async () => {
    const resolve = dns(['127.0.0.1'], ['127.0.0.2']);
    expect(await posting(resolve, ['127.0.0.1'])).toBe(200);
    expect(resolve.asked).toBe(1);
  });

  test('that is allowed may resolve to anything', async () => {
    expect(await posting(dns(['127.0.0.1']), ['hook.example'])).toBe(200);
    expect(await posting(dns(['127.0.0.1']), ['*.example'])).toBe(200);
  });

  test('that does not resolve, or not in time, is saved and fails when we connect', async () => {
    await checkReachable('https://hook.example/', [], dns([]));
    await expect(posting(dns([]), [])).rejects.toThrow('ENOTFOUND');
  });

  test('an answer that redirects is not followed', async () => {
    seen.length = 0;
    expect(await posting(dns(['127.0.0.1']), ['*.example'], '/away')).toBe(302);
    expect(seen).toEqual([`hook.example:${port}/away`]);
  });

  test('a body is read up to a bound', async () => {
    const config = {
      webhookAllowedHosts: ['127.0.0.1'],
      httpProxy: null,
      httpsProxy: null,
      noProxy: '',
    } as unknown as Config;
    const get = (most: number) =>
      fetchPublic({ config }, new URL(`http://127.0.0.1:${port}/`), {
        method: 'GET',
        headers: {},
        signal: post.signal,
      }).then((answer) => answer.text(most));
    expect(await get(1000)).toHaveLength(1000);
    expect(await get(999)).toBeNull();
  });

  test('an address that is not allowed is refused at connecting too', async () => {
    await expect(
      fetchPublic({ config: none as unknown as Config }, new URL(`http://127.0.0.1:${port}/`), post),
    ).rejects.toThrow(AddressRefused);
  });
});

describe('behind a proxy', () => {
  const targets: string[] = [];
  let proxy: Server;
  let origin: Server;
  let httpsProxy: string;
  beforeAll(async () => {
    origin = createServer((_, response) => response.end());
    await once(origin.listen(0, '127.0.0.1'), 'listening');
    proxy = createServer().on('connect', (request, socket) => {
      targets.push(request.url!);
      // The far end is not what this is about: it speaks no TLS.
      const far = connect((origin.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        far.pipe(socket).pipe(far);
      });
      far.on('error', () => socket.destroy());
      socket.on('error', () => far.destroy());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    httpsProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    for (const server of [proxy, origin]) {
      server.closeAllConnections();
      server.close();
    }
  });

  const posting = async (host: string, noProxy = '') => {
    const agent = await createPublicAgent({ ...none, httpsProxy, noProxy }, dns(['127.0.0.1']));
    try {
      await askDns(agent, new URL(`https://${host}/`), post);
      return null;
    } catch (error) {
      return error;
    } finally {
      await agent.destroy();
    }
  };

  test('the proxy gets the name, and resolves it', async () => {
    expect(await posting('hook.example')).not.toBeInstanceOf(AddressRefused);
    expect(targets).toEqual(['hook.example:443']);
  });

  test('hosts of NO_PROXY are judged and connected to directly', async () => {
    targets.length = 0;
    expect(await posting('hook.example', '.example')).toBeInstanceOf(AddressRefused);
    expect(targets).toEqual([]);
  });
});
