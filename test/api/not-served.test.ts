import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { acmeForAll } from './acme.ts';

const acme = acmeForAll();

type Seen = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

/** Sends a path as it is, and follows nothing. */
function send(method: string, path: string, headers: Record<string, string> = {}): Promise<Seen> {
  const { hostname, port } = new URL(acme.app.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('an unknown path', () => {
  test.each([
    '/nothing/at/all',
    '/no.thing',
    '/repos',
    '/docs/more',
    '/assets/none.css',
    '/setup',
    '//evil.example/',
  ])('%s is a page for a browser, and JSON for a program', async (path) => {
    const page = await send('GET', path, browser);
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=UTF-8']);
    expect(page.text).toContain('<h1>Page not found</h1>');
    for (const headers of [
      {},
      { Accept: '*/*' },
      { Accept: 'application/json' },
      { Accept: 'text/html;q=0' },
    ]) {
      const answer = await send('GET', path, headers as Record<string, string>);
      expect([answer.status, answer.headers['vary']]).toEqual([404, 'Accept']);
      expect(JSON.parse(answer.text).detail).toMatch(/no such route/);
    }
  });

  test.each(['/v1', '/v1/nothing', '/v1/repos/acme/web/'])(
    '%s of the API is JSON for everybody',
    async (path) => {
      const answer = await send('GET', path, browser);
      expect(answer.status).toBe(404);
      expect(JSON.parse(answer.text).detail).toMatch(/no such route/);
    },
  );
});

test.each(['/api/github/webhooks/', '/v1/repos/acme/web/scheduled_freeze/'])(
  'a slash at the end of %s is named to programs, which follow no redirect',
  async (path) => {
    const { status, text } = await send('POST', path);
    expect(status).toBe(404);
    expect(JSON.parse(text).detail).toMatch(
      `Remove the slash at the end of the address: ${path.slice(0, -1)}`,
    );
  },
);

describe('a method that a path does not accept', () => {
  test.each([
    ['POST', '/', 'GET, HEAD'],
    ['PUT', '/repos/acme/web', 'GET, HEAD, POST'],
    ['DELETE', '/docs', 'GET, HEAD'],
    ['GET', '/auth/sign-out', 'POST'],
    ['HEAD', '/auth/sign-out', 'POST'],
    ['GET', '/api/github/webhooks', 'POST'],
    ['PATCH', '/healthz', 'GET, HEAD'],
    ['TRACE', '/v1/application', 'GET, HEAD'],
    ['POST', '/v1/openapi.json', 'GET, HEAD'],
    ['GET', '/v1/repos/acme/web/scheduled_freeze/preview', 'POST'],
    ['GET', '/v1/repos/a_b/web/scheduled_freeze/no-id', 'DELETE, PATCH'],
  ])('%s %s is 405', async (method, path, allow) => {
    const answer = await send(method, path);
    expect([answer.status, answer.headers['allow']]).toEqual([405, allow]);
    if (method !== 'HEAD')
      expect(JSON.parse(answer.text)).toEqual({
        detail: `This path does not take ${method}. It takes ${allow}.`,
      });
  });

  test('a browser gets a page', async () => {
    const answer = await send('GET', '/auth/sign-out', browser);
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
    expect(answer.text).toContain('<h1>This address cannot be opened directly</h1>');
  });
});

describe('the address of a page with an extra slash', () => {
  test.each([
    ['/repos/acme/web/', '/repos/acme/web'],
    ['/repos/acme/web/?zoom=week&x=%2F%2Fevil.example', '/repos/acme/web?zoom=week&x=%2F%2Fevil.example'],
    ['/repos/acme/web/pulls/1/', '/repos/acme/web/pulls/1'],
    ['/repos/nobody/nothing/', '/repos/nobody/nothing'],
    ['/docs/', '/docs'],
    ['/repos/%0d%0aX-Evil:1/web/', '/repos/%0d%0aX-Evil:1/web'],
  ])('%s leads to %s', async (path, location) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await send(method, path, browser);
      expect([answer.status, answer.headers['location']]).toEqual([308, location]);
    }
    expect((await send('POST', path)).status).toBe(404);
  });

  test.each([
    '//evil.example/',
    '///evil.example/',
    '/\\evil.example/',
    '/repos//evil.example/',
    '/repos/../..//evil.example/',
    '/repos/..\\/evil.example/',
    '/repos/..\\..\\/evil.example/',
    '/repos/%2e%2e\\/evil.example/',
    'http://evil.example//evil.example/',
    'http://evil.example/repos/acme/web/',
  ])('%s leads to no other host', async (path) => {
    const { status, headers } = await send('GET', path, browser);
    expect([308, 404, 400]).toContain(status);
    const location = headers['location'] ?? '/';
    expect(new URL(String(location), 'https://holdfast.example').host).toBe('holdfast.example');
  });
});

test('a connection stays open longer than those of proxies', async () => {
  const { headers } = await send('GET', '/healthz', { Connection: 'keep-alive' });
  expect(headers['keep-alive']).toBe('timeout=75');
});
