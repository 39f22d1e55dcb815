import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { html, raw } from 'hono/html';
import { secureHeaders } from 'hono/secure-headers';
import { assetUrl } from './assets.ts';
import type { Html } from './layout.ts';
import { readScalarBundle } from './scalar-bundle.ts';

const path = '/docs';

/**
 * `/docs`: the OpenAPI document for people, rendered by Scalar in their browser. Everything that it loads comes from
 * here. The bundle is read when it is first asked for.
 */
export function mountApiReference(app: OpenAPIHono, document: () => object): void {
  let reading: Promise<Bundle> | undefined;
  const bundle = () =>
    (reading ??= readBundle().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));

  app.get(path, headers, async (context) => {
    const { version } = await bundle();
    return context.html(page(document(), `${path}/scalar.js?v=${version}`));
  });
  app.get(`${path}/scalar.js`, async (context) => {
    const { content, gzipped, version } = await bundle();
    const isCurrent = context.req.query('v') === version;
    context.header('Content-Type', 'text/javascript; charset=utf-8');
    context.header('X-Content-Type-Options', 'nosniff');
    context.header('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache');
    context.header('Vary', 'Accept-Encoding');
    if (!/\bgzip\b/.test(context.req.header('Accept-Encoding') ?? '')) return context.body(content);
    context.header('Content-Encoding', 'gzip');
    return context.body(gzipped);
  });
}

type Bundle = { content: string; gzipped: Uint8Array<ArrayBuffer>; version: string };

async function readBundle(): Promise<Bundle> {
  const content = await readScalarBundle();
  const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return { content, gzipped: new Uint8Array(await promisify(gzip)(content)), version };
}

/**
 * Scalar sets `style` attributes and makes style sheets of its own: inline styles are the one thing that it gets.
 * Without a `connect-src` its script, which is not ours, can neither call our API nor reach another server.
 */
const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'unsafe-inline'"],
    imgSrc: ["'self'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false,
});

/** The document stands in the page as data: a script that runs could not be inline. */
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
          This page needs JavaScript. The document that it shows is at
          <a href="/v1/openapi.json">/v1/openapi.json</a>.
        </noscript>
        <div id="reference"></div>
        <script type="application/json" id="openapi">
          ${raw(JSON.stringify(document).replaceAll('<', '\\u003c'))}
        </script>
        <script src="${bundle}"></script>
        <script type="module" src="${assetUrl('api-reference.js')}"></script>
      </body>
    </html>`;
