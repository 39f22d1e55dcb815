import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';

const types = {
  'style.css': 'text/css; charset=utf-8',
  'help.css': 'text/css; charset=utf-8',
  'local-times.js': 'text/javascript; charset=utf-8',
  'progress.js': 'text/javascript; charset=utf-8',
  'api-reference.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};
type AssetName = keyof typeof types;

const assets = new Map(
  Object.entries(types).map(([name, type]) => {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
    const version = createHash('sha256').update(content).digest('hex').slice(0, 12);
    return [name, { type, content, version }];
  }),
);

/** The URL of an asset. It changes with the content, so browsers may cache it forever. */
export const assetUrl = (name: AssetName): string => `/assets/${name}?v=${assets.get(name)!.version}`;

/** Serves the style sheets, the scripts and the icon that pages load. */
export function mountAssets(app: Hono): void {
  app.get('/assets/:name', (context) => {
    const asset = assets.get(context.req.param('name'));
    if (!asset) return context.notFound();
    const isCurrent = context.req.query('v') === asset.version;
    context.header('Content-Type', asset.type);
    context.header('X-Content-Type-Options', 'nosniff');
    context.header('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache');
    return context.body(asset.content);
  });
}
