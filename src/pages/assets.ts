import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Context, Hono } from 'hono';

const types = {
  'style.css': 'text/css; charset=utf-8',
  'help.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'keep-form.js': 'text/javascript; charset=utf-8',
  'live-form.js': 'text/javascript; charset=utf-8',
  'people.js': 'text/javascript; charset=utf-8',
  'bulk.js': 'text/javascript; charset=utf-8',
  'copy.js': 'text/javascript; charset=utf-8',
  'calendar.js': 'text/javascript; charset=utf-8',
  'unfreeze.js': 'text/javascript; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'api-reference.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'icon-frozen.svg': 'image/svg+xml',
  'icon-deployments-frozen.svg': 'image/svg+xml',
  'icon-192.png': 'image/png',
  'icon-512.png': 'image/png',
  'favicon.ico': 'image/x-icon',
};
type AssetName = keyof typeof types;

const read = (name: string): Buffer<ArrayBuffer> =>
  readFileSync(new URL(`./assets/${name}`, import.meta.url));

/** The style sheets of all pages: one for each subject, the general ones first. */
const sheets = ['tokens.css', 'style.css', 'states.css', 'overview.css', 'pull-request.css', 'keys.css'];

/** What every page loads, as one file. Each script is a block, with names of its own. */
const joined: Partial<Record<string, () => Buffer<ArrayBuffer>>> = {
  'style.css': () => Buffer.concat(sheets.map(read)),
  'page.js': () =>
    Buffer.concat(
      ['local-times.js', 'menus.js', 'busy-buttons.js', 'keys.js'].flatMap((name) => [
        Buffer.from('{\n'),
        read(name),
        Buffer.from('}\n'),
      ]),
    ),
};

const assets = new Map(
  Object.entries(types).map(([name, type]) => {
    const content = joined[name]?.() ?? read(name);
    const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
    return [name, { type, content, version }];
  }),
);

/** The icon as markup. */
export const iconSvg = read('icon.svg').toString('utf8');

/** The URL of an asset. It changes with the content, so browsers may cache it forever. */
export const assetUrl = (name: AssetName): string => `/assets/${name}?v=${assets.get(name)!.version}`;

/** What a phone needs to put Holdfast on its home screen. */
const manifest = {
  name: 'Holdfast',
  short_name: 'Holdfast',
  start_url: '/',
  display: 'standalone',
  icons: [
    { src: assetUrl('icon.svg'), sizes: 'any', type: 'image/svg+xml' },
    { src: assetUrl('icon-192.png'), sizes: '192x192', type: 'image/png' },
    { src: assetUrl('icon-512.png'), sizes: '512x512', type: 'image/png' },
  ],
};

/** Answers with a file. Its version is in the URL (`v`), so browsers may keep it. */
export function serveVersioned(
  context: Context,
  { type, content, version }: { type: string; content: string | Uint8Array<ArrayBuffer>; version: string },
): Response {
  const isCurrent = context.req.query('v') === version;
  context.header('Content-Type', type);
  context.header('X-Content-Type-Options', 'nosniff');
  context.header('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache');
  return context.body(content);
}

/** Keeps what was read the first time. After an error it reads again. */
export function readOnce<Read>(read: () => Promise<Read>): () => Promise<Read> {
  let reading: Promise<Read> | undefined;
  return () =>
    (reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));
}

/** Serves the style sheets, the scripts and the icons that pages load, and what browsers ask for by itself. */
export function mountAssets(app: Hono): void {
  const serve = (context: Context, name: string): Response | Promise<Response> => {
    const asset = assets.get(name);
    return asset ? serveVersioned(context, asset) : context.notFound();
  };
  app.get('/assets/:name', (context) => serve(context, context.req.param('name')));
  app.get('/favicon.ico', (context) => serve(context, 'favicon.ico'));
  app.get('/manifest.webmanifest', (context) =>
    context.json(manifest, 200, { 'Content-Type': 'application/manifest+json' }),
  );
}
