import { expect, test } from 'vitest';
import { CannotUnseal, seal, unseal, deriveKey } from '../../src/database/secret-key.ts';

const key = 'a secret key of at least 32 characters';

test('a sealed text opens again, and never looks the same twice', () => {
  for (const text of ['', 'secret', 'ünïcödé 🔑', 'x'.repeat(5000)])
    expect(unseal(key, 'a', seal(key, 'a', text))).toBe(text);
  expect(seal(key, 'a', 'secret')).not.toBe(seal(key, 'a', 'secret'));
});

test('it does not open under another key, in another place, or after a change', () => {
  const sealed = seal(key, 'a', 'secret');
  expect(() => unseal(`${key}!`, 'a', sealed)).toThrow(CannotUnseal);
  expect(() => unseal(key, 'b', sealed)).toThrow(CannotUnseal);
  const bytes = Buffer.from(sealed.slice('v1.'.length), 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(() => unseal(key, 'a', `v1.${changed.toString('base64url')}`)).toThrow(CannotUnseal);
  }
  for (const broken of ['', 'v1', 'v1.', 'v2.AAAA', sealed.slice(0, 20), sealed.replace('v1', 'v2')])
    expect(() => unseal(key, 'a', broken)).toThrow(CannotUnseal);
});

test('each use of the key has its own key', () => {
  expect(deriveKey(key, 'one')).not.toEqual(deriveKey(key, 'two'));
  expect(deriveKey(key, 'one')).toHaveLength(32);
});
