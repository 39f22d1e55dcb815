// For a worker, before it loads anything: files of `src/` that have another text below REWRITTEN_SOURCES are loaded with it.
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env['REWRITTEN_SOURCES']!;
const rewritten = new Map(
  globSync('src/**/*.ts', { cwd: folder }).map((file) => [pathToFileURL(file).href, join(folder, file)]),
);

registerHooks({
  load(url, context, next) {
    const file = rewritten.get(url);
    if (!file) return next(url, context);
    return { format: 'module-typescript', source: readFileSync(file, 'utf8'), shortCircuit: true };
  },
});
