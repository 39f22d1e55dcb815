import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { designFiles } from '../../design/write-tokens.ts';

// `npm run design` writes these files.

test.each([...(await designFiles())])('%s is up to date', (path, text) =>
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text),
);
