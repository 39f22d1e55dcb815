import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAcme } from '../support/acme.ts';
import { type Holdfast, startHoldfast } from '../support/holdfast.ts';
import { useSockets } from '../support/inside.ts';

// In a browser: test/browser/api-reference.test.ts.

useSockets();
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

test('the page gets inline styles, and nothing else that other pages lack', () => {
  expect(answer.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self'; " +
      "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  );
});

test('it holds the document that is served, as data', async () => {
  const [, data] = /<script type="application\/json" id="openapi">(.*?)<\/script>/s.exec(page)!;
  expect(JSON.parse(data!)).toEqual(await (await get('/v1/openapi.json')).json());
});

test('everything that it loads is here, and can be cached forever', async () => {
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

test.each(['/docs', '/', '/help', '/assets/style.css'])(
  '%s is compressed if clients accept that',
  async (path) => {
    const plain = await get(path, { 'Accept-Encoding': 'identity' });
    const compressed = await get(path, { 'Accept-Encoding': 'gzip' });
    expect([plain, compressed].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip']);
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    expect(await compressed.text()).toBe(await plain.text());
  },
);

test('an unchanged page of the documentation is not sent again, compressed or not', async () => {
  for (const encoding of ['gzip', 'identity']) {
    const headers = { 'Accept-Encoding': encoding };
    const tag = (await get('/help', headers)).headers.get('etag')!;
    expect((await get('/help', { ...headers, 'If-None-Match': tag })).status, encoding).toBe(304);
  }
});

test('the API and its errors are sent as they are', async () => {
  for (const path of ['/v1/openapi.json', '/v1/nowhere'])
    expect((await get(path, { 'Accept-Encoding': 'gzip' })).headers.get('content-encoding'), path).toBeNull();
});

test('a way home, and freezes first', async () => {
  expect(page).toContain('<a href="/">Holdfast</a>');
  const document = (await (await get('/v1/openapi.json')).json()) as { paths: object };
  const [first] = Object.values(document.paths) as { post: { tags: string[]; summary: string } }[];
  expect(first!.post).toMatchObject({ tags: ['Scheduled freezes'], summary: 'Schedule a freeze' });
});

test('the sample of the first route works', async () => {
  const acme = await startAcme();
  try {
    await acme.repository('web', [{}]);
    const document = (await acme.call('GET', '/v1/openapi.json')).body;
    const [path, { post }] = Object.entries(document.paths)[0] as [string, Sample];
    const example = (name: string) => post.parameters.find((each) => each.name === name)!;
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const { example: given, schema } = example(name);
      return given ?? schema.example;
    });
    const { example: body } = post.requestBody.content['application/json'];
    // A year after it was written, too.
    await acme.advanceTo('2027-06-01T00:00:00Z');
    const answer = await acme.call('POST', `/v1${url}`, { as: acme.admin, body });
    expect(answer.status, answer.text).toBe(201);
    await acme.quiet();
    expect(acme.frozen('acme/web')).toEqual([]);
  } finally {
    await acme.close();
  }
});

type Sample = {
  post: {
    parameters: { name: string; example?: string; schema: { example: string } }[];
    requestBody: { content: { 'application/json': { example: object } } };
  };
};
