// Few files know the table of statuses, so that a change of it has one place.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('only its store knows the table of statuses', () => {
  const files = globSync('src/**/*.ts', { exclude: ['src/generated/**'] });
  const knowing = files.filter((file) => /head_statuses|\.headStatus\b/.test(readFileSync(file, 'utf8')));
  expect(knowing.toSorted()).toEqual([
    // An archive names every table.
    'src/server/archive/contents.ts',
    'src/statuses/desired-store.ts',
    'src/statuses/instant-hold/pass-store.ts',
    'src/statuses/take-writes.ts',
    'src/statuses/write-store.ts',
  ]);
});
