import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownPath } from '../../../src/auth/sign-in/attempt.ts';
import { amount } from '../../support/amounts.ts';

const own = 'https://holdfast.example';

test.each([
  ['/', '/'],
  ['/repos/acme/web/pulls/1', '/repos/acme/web/pulls/1'],
  ['/repos/acme/web?zone=UTC&at=1', '/repos/acme/web?zone=UTC&at=1'],
  ['/repos/acme/web#top', '/repos/acme/web'],
  ['/a?next=https://evil.example', '/a?next=https://evil.example'],
  // As long as a cookie takes.
  [`/${'x'.repeat(999)}`, `/${'x'.repeat(999)}`],
])('%j is ours: %j', (asked, path) => expect(ownPath(asked)).toBe(path));

test.each([
  ...[
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/a\\b',
    'repos/x',
    '',
    ' /x',
  ],
  ...[
    '/\n/evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    'javascript:alert(1)',
  ],
  `/${'x'.repeat(1000)}`,
  // Short as it is asked for, and too long for a cookie as it is written.
  `/${'é'.repeat(400)}`,
  undefined,
])('%j is not', (asked) => expect(ownPath(asked)).toBe('/'));

test('it always sends a browser to this service', () => {
  const parts = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    ':',
    '@',
    '?',
    '#',
    '%2f',
    '\t',
    'evil.example',
    'https:',
    'a',
  );
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 10 }), (pieces) => {
      const path = ownPath(pieces.join(''));
      expect(new URL(path, own).origin).toBe(own);
      expect(path.startsWith('/') && !path.startsWith('//')).toBe(true);
    }),
    { numRuns: amount(2000) },
  );
});
