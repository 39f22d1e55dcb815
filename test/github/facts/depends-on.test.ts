import { expect, test } from 'vitest';
import { dependsOn, groupKeyOf } from '../../../src/github/facts/description.ts';
import { withoutComments } from '../../../src/github/facts/without-comments.ts';
import { leastCpuTime } from '../../support/cpu-time.ts';

const own = { owner: 'acme', name: 'web', host: 'github.com' };
const named = (body: string) =>
  dependsOn(body, own).map(({ owner, name, number }) => `${owner}/${name}#${number}`);

test.each([
  ['Depends-On: #12', 'acme/web#12'],
  ['depends-on:#12', 'acme/web#12'],
  ['  DEPENDS-ON:   Globex/core.js#3  ', 'Globex/core.js#3'],
  ['Depends-On: https://github.com/globex/core/pull/3', 'globex/core#3'],
  ['Depends-On: https://GitHub.com/globex/core/pull/3/', 'globex/core#3'],
])('%o names %s', (line, expected) => {
  expect(named(`A change.\r\n${line}\r\n\r\nThanks`)).toEqual([expected]);
});

test.each([
  'It depends-on: #12',
  'Depends-On: #12 and #13',
  'Depends-On: 12',
  'Depends-On: globex#3',
  'Depends-On: https://gitlab.com/globex/core/pull/3',
  'Depends-On: https://github.com/globex/core/issues/3',
  'Depends-On: https://github.com/globex/core/pull/3/files',
  '<!-- Depends-On: #12 -->',
  '<!--\nDepends-On: #12\n-->',
  'Depends-On: #12345678901',
])('%o names nothing', (line) => {
  expect(named(line)).toEqual([]);
});

test('each is named once, without case', () => {
  const body = ['Depends-On: #1', 'Depends-On: acme/web#1', 'Depends-On: Acme/Web#1', 'Depends-On: #2'].join(
    '\n',
  );
  expect(dependsOn(body, own).map(groupKeyOf)).toEqual(['acme/web#1', 'acme/web#2']);
});

test('comments are dropped across lines; one without an end stays', () => {
  expect(withoutComments('a<!-- b\nc -->d<!----><!-- -- -->e')).toBe('ade');
  expect(withoutComments('a <!-- b')).toBe('a <!-- b');
  expect(withoutComments('a --> b <!-- c -->')).toBe('a --> b ');
  expect(withoutComments('<!--> a -->b')).toBe('b');
  expect(withoutComments('')).toBe('');
});

test('a description made to be slow is read fast', () => {
  const took = leastCpuTime(() => {
    withoutComments('<!--'.repeat(50_000));
    named(`Depends-On: ${'a-'.repeat(50_000)}\nDepends-On: ${' '.repeat(50_000)}`);
  });
  expect(took).toBeLessThan(200);
});
