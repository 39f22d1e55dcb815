import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Holdfast, startHoldfast } from '../support/holdfast.ts';

// In a browser: test/browser/api-reference.test.ts.

let holdfast: Holdfast;
let page: string;
let answer: Response;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(holdfast.app.url + path, { headers });
beforeAll(async () => {
  // Its texts reach the page: as data they must not end the element that they stand in.
  holdfast = await startHoldfast(() => {}, { publicUrl: 'https://holdfast.example/</script><b>' });
  answer = await get('/docs');
  page = await answer.text();
});
afterAll(() => holdfast.close());

test('the page gets inline styles and nothing else that the others do not get', () => {
  expect(answer.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self'; " +
      "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('it holds the document that is served, as data', async () => {
  const [, data] = /<script type="application\/json" id="openapi">(.*?)<\/script>/s.exec(page)!;
  expect(JSON.parse(data!)).toEqual(await (await get('/v1/openapi.json')).json());
});

test('all that it loads is here, and may be kept for ever', async () => {
  const loaded = [...page.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)].map(([, url]) => url!);
  expect(loaded).toHaveLength(3);
  for (const url of loaded) {
    expect(url).toMatch(/^\/(docs|assets)\/[\w.-]+\?v=[0-9a-f]{12}$/);
    const asset = await get(url);
    expect(asset.status, url).toBe(200);
    expect(asset.headers.get('cache-control')).toContain('immutable');
    const outdated = await get(url.replace(/v=.*/, 'v=0'));
    expect(outdated.headers.get('cache-control')).toBe('no-cache');
    await Promise.all([asset.arrayBuffer(), outdated.arrayBuffer()]);
  }
});

test('the bundle is whole, compressed or not', async () => {
  const plain = await get('/docs/scalar.js', { 'Accept-Encoding': 'identity' });
  const compressed = await get('/docs/scalar.js', { 'Accept-Encoding': 'gzip' });
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(compressed.headers.get('content-encoding')).toBe('gzip');
  expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
  const script = await plain.text();
  expect(await compressed.text()).toBe(script);
  expect(script.length).toBeGreaterThan(1_000_000);
  expect(script).toContain('window.Scalar={createApiReference:');
});
