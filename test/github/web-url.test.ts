import { expect, test } from 'vitest';
import { webUrlOf } from '../../src/github/web-url.ts';

test.each([
  ['https://api.github.com', 'https://github.com'],
  ['https://github.example.com/api/v3', 'https://github.example.com'],
  ['https://github.example.com/api/v3/', 'https://github.example.com'],
  ['https://api.octo.ghe.com', 'https://octo.ghe.com'],
  ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
])('%s belongs to %s', (api, web) => expect(webUrlOf(api)).toBe(web));
