import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';

const types = {
  'style.css': 'text/css; charset=utf-8',
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

/** Where a page finds an asset; the address changes with its content, so that browsers may keep it for ever. */
export const assetUrl = (name: AssetName): string => `/assets/${name}?v=${assets.get(name)!.version}`;

/** Serves what pages load: a style sheet, a script and an icon, all of our own. */
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
