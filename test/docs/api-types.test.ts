import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { apiTypes, apiTypesFile } from '../../bin/write-api-types.ts';

test('the command line is checked against the present document: `npm run postinstall` writes its types', async () => {
  const types = await apiTypes();
  expect(types).toContain('export interface paths');
  expect(readFileSync(apiTypesFile, 'utf8') === types).toBe(true);
});
