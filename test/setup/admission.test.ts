import { describe, expect, test } from 'vitest';
import { admissionOf } from '../../src/setup/admission.ts';
import { isLoopbackAddress } from '../../src/setup/loopback.ts';
import { publicUrlWarnings } from '../../src/setup/public-url-warnings.ts';

const publicUrl = 'https://holdfast.example';

test.each([
  ['127.0.0.1', true],
  ['127.200.0.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:203.0.113.9', false],
  ['10.0.0.1', false],
  ['0.0.0.0', false],
  ['172.17.0.1', false],
  ['127.0.0.1.example', false],
  ['', false],
])('%s is this machine: %s', (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected);
});

describe('who is let in', () => {
  const visit = { address: '127.0.0.1', host: 'localhost:3000', isForwarded: false };

  test.each(['http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]:3000'])(
    'from this machine, where PUBLIC_URL %s says that nobody else comes',
    (own) => expect(admissionOf(visit, own)).toEqual({ kind: 'local', origin: 'http://localhost:3000' }),
  );
  test.each([
    [
      'from this machine, or through a proxy on it that leaves no trace',
      {},
      { kind: 'with-code', origin: 'http://localhost:3000' },
    ],
    [
      'from this machine by IPv6',
      { address: '::1', host: '[::1]:3000' },
      { kind: 'with-code', origin: 'http://[::1]:3000' },
    ],
    ['from another machine that claims a loopback name', { address: '203.0.113.9' }, { kind: 'elsewhere' }],
    ['through a proxy that rewrites the name', { isForwarded: true }, { kind: 'elsewhere' }],
    ['without a name', { host: undefined }, { kind: 'elsewhere' }],
    ['without an address', { address: undefined }, { kind: 'elsewhere' }],
    [
      'by PUBLIC_URL',
      { address: '203.0.113.9', host: 'holdfast.example' },
      { kind: 'with-code', origin: publicUrl },
    ],
    [
      'by PUBLIC_URL with its port',
      { host: 'HOLDFAST.example:443' },
      { kind: 'with-code', origin: publicUrl },
    ],
    ['by another port', { host: 'holdfast.example:8443' }, { kind: 'elsewhere' }],
    ['by a name that an attacker points here', { host: 'attacker.example:3000' }, { kind: 'elsewhere' }],
    ['by a name with more in it', { host: 'localhost@attacker.example' }, { kind: 'elsewhere' }],
    ['by a path', { host: 'localhost/holdfast.example' }, { kind: 'elsewhere' }],
  ])('%s', (_name, change, expected) => {
    expect(admissionOf({ ...visit, ...change }, publicUrl)).toEqual(expected);
  });
});

test.each([
  [publicUrl, 'https://github.com', null],
  ['http://localhost:3000', 'https://github.com', 'cannot reach'],
  ['http://127.0.0.1:3000', 'https://github.example.com', 'cannot reach'],
  ['https://192.168.1.5', 'https://github.com', 'private network'],
  ['https://10.1.1.5', 'https://octo.ghe.com', 'private network'],
  ['https://100.64.0.9', 'https://github.com', 'private network'],
  ['https://holdfast', 'https://github.com', 'your network alone'],
  ['https://build.internal', 'https://github.com', 'your network alone'],
  ['https://holdfast', 'https://github.example.com', null],
  ['https://10.1.1.5', 'https://github.example.com', null],
  ['http://holdfast.example', 'https://github.com', 'not encrypted'],
  ['http://localhost:3000', 'http://127.0.0.1:3001', null],
])('PUBLIC_URL %s with %s: %s', (url, github, expected) => {
  const warnings = publicUrlWarnings(url, github);
  expect(warnings).toEqual(expected === null ? [] : [expect.stringContaining(expected)]);
});
