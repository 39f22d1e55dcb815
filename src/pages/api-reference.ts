import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { html, raw } from 'hono/html';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { runInNewContext } from 'node:vm';
import { assetUrl, readOnce, serveVersioned } from './assets.ts';
import type { Html } from './html.ts';
import { securityHeaders } from './layout.ts';

const path = '/docs';

/**
 * `/docs`: the OpenAPI document, which Scalar renders in the browser. The page loads nothing from other servers. The
 * bundle is read on the first request.
 */
export function mountApiReference(app: OpenAPIHono, document: () => object): void {
  const reference = readOnce(() => readReference(document));
  app.get(path, headers, async (context) => {
    const { page } = await reference();
    return context.html(page);
  });
  app.get(`${path}/scalar.js`, async (context) => {
    const { bundle, gzipped, version } = await reference();
    const takesGzip = /\bgzip\b/.test(context.req.header('Accept-Encoding') ?? '');
    context.header('Vary', 'Accept-Encoding');
    if (takesGzip) context.header('Content-Encoding', 'gzip');
    const type = 'text/javascript; charset=utf-8';
    return serveVersioned(context, { type, content: takesGzip ? gzipped : bundle, version });
  });
}

/** @property gzipped the bundle. It is compressed once: that takes 0.2 s of processor time, and anybody can ask. */
type Reference = { page: Html; bundle: string; gzipped: Uint8Array<ArrayBuffer>; version: string };

async function readReference(document: () => object): Promise<Reference> {
  const bundle = await readScalarBundle();
  const version = createHash('sha256').update(bundle).digest('hex').slice(0, 12);
  const gzipped = new Uint8Array(await promisify(gzip)(bundle));
  return { bundle, gzipped, version, page: await page(document(), `${path}/scalar.js?v=${version}`) };
}

/**
 * Scalar sets `style` attributes and creates style sheets, so we allow inline styles and nothing else. Its script is
 * third-party code: without a `connect-src` it can neither call our API nor reach another server.
 */
const headers = securityHeaders({
  scriptSrc: ["'self'"],
  styleSrc: ["'unsafe-inline'"],
  imgSrc: ["'self'"],
  formAction: ["'none'"],
});

/** The page holds the document as data, because it allows no inline scripts. */
const page = (document: object, bundle: string): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>API reference · Holdfast</title>
        <link rel="icon" type="image/svg+xml" href="${assetUrl('icon.svg')}" />
      </head>
      <body>
        <noscript>
          This page needs JavaScript. You can also read the document itself:
          <a href="/v1/openapi.json">/v1/openapi.json</a>.
        </noscript>
        <nav style="padding: 0.5rem 1rem; font: 0.9375rem system-ui, sans-serif">
          <a href="/">Holdfast</a>
        </nav>
        <div id="reference"></div>
        <script type="application/json" id="openapi">
          ${raw(JSON.stringify(document).replaceAll('<', '\\u003c'))}
        </script>
        <script src="${bundle}"></script>
        <script type="module" src="${assetUrl('api-reference.js')}"></script>
      </body>
    </html>`;

/**
 * Scalar's API reference for browsers, one script without dependencies. Its own package installs 270 others; the one
 * for Fastify contains the script as a string literal and installs 18. We read that file and do not import it, so none
 * of those packages runs here.
 * @throws Error if the package has no such literal. Its version is pinned, and a test reads it.
 */
async function readScalarBundle(): Promise<string> {
  const path = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  const source = await readFile(path, 'utf8');
  const literal = stringAfter('\nvar standalone_default = ', source);
  if (!literal) throw new Error(`${path} has no browser bundle where it was. Install the pinned version.`);
  // JSON.parse does not know all JavaScript escapes. The input is one string literal and nothing else.
  return runInNewContext(literal) as string;
}

/** The string literal after some words, with its quotes. A regular expression could fail on millions of characters. */
function stringAfter(words: string, source: string): string | null {
  const start = source.indexOf(words) + words.length;
  if (start < words.length || source[start] !== '"') return null;
  for (let at = start + 1; at < source.length && source[at] !== '\n'; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '"') return source.slice(start, at + 1);
  }
  return null;
}
