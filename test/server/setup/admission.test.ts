import { expect, test } from 'vitest';
import { isLoopbackAddress, originOf, publicUrlWarnings } from '../../../src/server/setup/admission.ts';

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

test.each([
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.2:8080', 'http://127.0.0.2:8080'],
  ['[::1]:3000', 'http://[::1]:3000'],
  ['holdfast.example', publicUrl],
  ['HOLDFAST.example:443', publicUrl],
  ['holdfast.example:8443', null],
  ['attacker.example:3000', null],
  ['localhost@attacker.example', null],
  ['localhost/holdfast.example', null],
  ['127.0.0.1.attacker.example', null],
  [undefined, null],
])('under the name %s the origin is %s', (host, expected) => {
  expect(originOf(host, publicUrl)).toBe(expected);
});

test.each([
  [publicUrl, 'https://github.com', null],
  ['http://localhost:3000', 'https://github.com', 'cannot reach'],
  ['http://127.0.0.1:3000', 'https://github.example.com', 'cannot reach'],
  ['https://192.168.1.5', 'https://github.com', 'private network'],
  ['https://10.1.1.5', 'https://octo.ghe.com', 'private network'],
  ['https://100.64.0.9', 'https://github.com', 'private network'],
  ['https://holdfast', 'https://github.com', 'only your network knows that name'],
  ['https://build.internal', 'https://github.com', 'only your network knows that name'],
  ['https://holdfast', 'https://github.example.com', null],
  ['https://10.1.1.5', 'https://github.example.com', null],
  ['http://holdfast.example', 'https://github.com', 'not encrypted'],
  ['http://localhost:3000', 'http://127.0.0.1:3001', null],
])('PUBLIC_URL %s with %s: %s', (url, github, expected) => {
  const warnings = publicUrlWarnings(url, github);
  expect(warnings).toEqual(expected === null ? [] : [expect.stringContaining(expected)]);
});
