// Prisma's schema engine as WebAssembly: the binary that `prisma migrate` downloads is not needed.
import { readFile, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engineBindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';

const schemaUrl = new URL('./schema.prisma', import.meta.url);
const migrationsUrl = new URL('./migrations/', import.meta.url);

type Bindings = typeof engineBindings & Record<string, unknown>;

/** The part of WebAssembly used here: TypeScript declares it with the browser's library only. */
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: object,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

async function instantiate(): Promise<Bindings> {
  const bindings = engineBindings as Bindings;
  const wasmPath = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace('schema_engine.js', 'schema_engine_bg.wasm');
  const { instance } = await WebAssembly.instantiate(await readFile(wasmPath), {
    './schema_engine_bg.js': bindings,
  });
  (bindings['__wbg_set_wasm'] as (exports: object) => void)(instance.exports);
  (instance.exports['__wbindgen_start'] as () => void)();
  return bindings;
}

async function readMigrations() {
  const entries = await readdir(migrationsUrl, { withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: {
          tag: 'ok' as const,
          value: await readFile(new URL(`${name}/migration.sql`, migrationsUrl), 'utf8'),
        },
      },
    })),
  );
}

/**
 * The SQL that takes the committed migrations to `schema.prisma`; null when they agree.
 */
export async function diffMigrationsToSchema(): Promise<string | null> {
  const { SchemaEngine } = await instantiate();
  const schema = await readFile(schemaUrl, 'utf8');
  const database = new PGlite();
  try {
    const engine = await SchemaEngine.new(
      { datamodels: [['schema.prisma', schema]] },
      () => undefined,
      bindMigrationAwareSqlAdapterFactory(new PrismaPGlite(database)),
    );
    const filters = { externalTables: [], externalEnums: [] };
    const { stdout } = await engine.diff({
      from: {
        tag: 'migrations',
        baseDir: 'prisma/migrations',
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: await readMigrations(),
      },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: schema }] },
      script: true,
      exitCode: null,
      filters,
    });
    return stdout === null || /^(-- This is an empty migration\.)?\s*$/.test(stdout) ? null : stdout;
  } finally {
    await database.close();
  }
}
