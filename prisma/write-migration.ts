// `npm run db:diff -- name`: writes the next migration, if the schema has moved on from the last.
import { mkdir, writeFile } from 'node:fs/promises';
import { diffMigrationsToSchema } from './schema-engine.ts';

const name = process.argv[2] ?? 'change';
const sql = await diffMigrationsToSchema();
if (sql === null) {
  console.log('The migrations already say what prisma/schema.prisma says.');
} else {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  const folder = new URL(`./migrations/${stamp}_${name}/`, import.meta.url);
  await mkdir(folder, { recursive: true });
  await writeFile(new URL('migration.sql', folder), sql);
  await writeFile(new URL('./migrations/migration_lock.toml', import.meta.url), 'provider = "postgresql"\n');
  console.log(`Wrote ${folder.pathname}`);
}
