import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { helpRoutes } from '../../../src/pages/help/help-routes.ts';

// The pages below /help in a browser.

const app = new Hono().route('/help', helpRoutes());

async function open(path: string, headers: Record<string, string> = {}) {
  const response = await app.request(path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const linksOf = (text: string): string[] =>
  [...text.matchAll(/<a\b[^>]*?href="([^"]+)"/g)].map(([, href]) => href!);
const idsOf = (text: string): Set<string> =>
  new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));
const unescaped = (text: string): string => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"');

/** Other paths of the service. */
const elsewhere = ['/', '/docs', '/help'];

test('every link leads to an existing page, and to an existing part', async () => {
  const pages = new Map<string, string>();
  const waiting = ['/help'];
  for (const path of waiting) {
    const { status, text } = await open(path);
    expect(status, path).toBe(200);
    pages.set(path, text);
    const paths = linksOf(text)
      .map((href) => new URL(unescaped(href), `http://here${path}`))
      .filter(({ host, pathname }) => host === 'here' && pathname.startsWith('/help'))
      .map(({ pathname }) => pathname);
    for (const next of new Set(paths)) if (!waiting.includes(next)) waiting.push(next);
  }
  expect(pages.size).toBeGreaterThan(20);

  let followed = 0;
  for (const [path, text] of pages)
    for (const href of linksOf(text)) {
      const { host, pathname, hash } = new URL(unescaped(href), `http://here${path}`);
      if (host !== 'here') continue;
      const target = pages.get(pathname);
      if (!target) expect(elsewhere, `${path} → ${href}`).toContain(pathname);
      else if (hash) expect(idsOf(target), `${path} → ${href}`).toContain(decodeURIComponent(hash.slice(1)));
      followed += 1;
    }
  expect(followed).toBeGreaterThan(1000);
});

test('the pages keep every link to a document, and every picture', async () => {
  const { text } = await open('/help/pages');
  const pictures = [...text.matchAll(/<img src="([^"]+)"/g)].map(([, source]) => source!);
  expect(pictures.length).toBeGreaterThan(5);
  for (const picture of pictures) {
    const { status, headers } = await open(picture);
    expect([picture, status, headers.get('content-type')]).toEqual([picture, 200, 'image/png']);
  }
});

test('says which file and version a page is, and where one is in the menu', async () => {
  const { text } = await open('/help/install');
  expect(text).toMatch(/<code>docs\/install\.md<\/code> of Holdfast \d+\.\d+\.\d+/);
  expect(text).toMatch(/href="\/help\/install" aria-current="page"/);
});

test('pages load nothing from elsewhere, run no inline script, and are requested again after an upgrade', async () => {
  const { text, headers } = await open('/help/install');
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  expect(text).not.toMatch(/<script>|style="|<script(?![^>]*src="\/assets\/)/);
  expect(headers.get('cache-control')).toBe('private, no-cache');
  const again = await open('/help/install', { 'If-None-Match': headers.get('etag')! });
  expect([again.status, again.text]).toEqual([304, '']);
});

test.each([
  '/help/nothing',
  '/help/README.md',
  '/help/pictures/none.png',
  '/help/pictures/..%2F..%2Fpackage.json',
])('%s is not there, and the page offers the search', async (path) => {
  const { status, text } = await open(path);
  expect(status).toBe(404);
  expect(text).toContain('There is no such page of the documentation');
  expect(text).toContain('action="/help/search"');
  expect(text).toContain('href="/help/install"');
});

test('the overview has one address', async () => {
  const { status, headers } = await open('/help/README');
  expect([status, headers.get('location')]).toEqual([301, '/help']);
});

test('the search leads to sections, and says so if there is none', async () => {
  const { status, text } = await open('/help/search?q=back+up');
  expect(status).toBe(200);
  expect(text).toContain('href="/help/backup#back-up-the-embedded-database"');
  expect(text).toContain('value="back up"');
  expect((await open('/help/search?q=zzzzzz')).text).toContain('Nothing was found');
  for (const empty of ['/help/search', '/help/search?q=', '/help/search?q=what+is+the'])
    expect((await open(empty)).status).toBe(200);
});

test('the searched words are text, and only their beginning counts', async () => {
  const { text } = await open(`/help/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
  expect(text).not.toContain('<script>alert');
  const long = await open(`/help/search?q=${encodeURIComponent('backup '.repeat(10_000))}`);
  expect(/value="([^"]*)"/.exec(long.text)![1]!.length).toBeLessThanOrEqual(200);
});
