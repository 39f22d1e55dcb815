import fc from 'fast-check';
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/auth/application-key.ts';
import { createLogger, redact } from '../../src/server/log.ts';

const characters = (alphabet: string, minLength: number, maxLength = minLength + 40) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
const word = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const base64url = `${word}-_`;
const pem = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
}).privateKey;

const secret = fc.oneof(
  fc.constantFrom('admin' as const, 'ci' as const).map((scope) => generateKey(scope)),
  fc
    .tuple(fc.constantFrom('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'), characters(word, 36))
    .map((parts) => parts.join('')),
  characters(`${word}_`, 40).map((text) => `github_pat_${text}`),
  fc
    .tuple(characters(base64url, 20), characters(base64url, 20), characters(base64url, 20))
    .map(([header, claims, signature]) => `eyJ${header}.eyJ${claims}.${signature}`),
  fc.constantFrom(pem, pem.replaceAll('\n', '\\n'), pem.replaceAll('\n', '\r\n')),
);
const around = fc.constantFrom(' ', '"', ':', '=', '/', '\n', '&', '(', 'Bearer ', '\\n');

test('no credential passes, anywhere in a line', () => {
  fc.assert(
    fc.property(fc.string(), around, secret, around, fc.string(), (before, open, hidden, close, after) => {
      const line = redact(`${before}${open}${hidden}${close}${after}`);
      expect(line).not.toContain(hidden);
      expect(line).toContain('[secret]');
    }),
  );
});

test('two in a line are both removed, and other texts stay', () => {
  const key = generateKey('ci');
  expect(redact(`a ${key} b ghp_${'x'.repeat(36)} c`)).toBe('a [secret] b [secret] c');
  for (const plain of [
    'highlight_github',
    'ghost_writer',
    'sha 0c0de8946cb9b6d5854b94942b55920bef96ded3',
    'hf_admin_',
  ])
    expect(redact(plain)).toBe(plain);
});

test.each(['json', 'pretty'] as const)(
  'the logger writes %s lines without credentials, in errors too',
  (logFormat) => {
    const lines: string[] = [];
    const log = createLogger({ logLevel: 'info', logFormat }, (line) => void lines.push(line));
    const key = generateKey('admin');
    log.info({ authorization: `Bearer ${key}`, nested: { deep: [key] } }, `with ${key}`);
    log.error({ err: new Error(`failed with ${key}`, { cause: new Error(pem) }) }, 'failed');
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toContain(key);
    expect(lines.join('')).not.toContain('PRIVATE KEY');
  },
);

test('a failed call of GitHub is logged without its query and its answer', () => {
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'info', logFormat: 'json' }, (line) => void lines.push(line));
  const request = {
    method: 'POST',
    url: 'https://github.example/graphql',
    body: { query: 'query Long { … }' },
  };
  log.warn(
    { err: Object.assign(new Error('Server Error'), { status: 502, request, response: { data: 'html' } }) },
    'failed',
  );
  const { err } = JSON.parse(lines[0]!);
  expect(err).toMatchObject({
    message: 'Server Error',
    status: 502,
    request: { method: 'POST', url: 'https://github.example/graphql' },
  });
  expect(lines[0]).not.toMatch(/Long|html/);
});
