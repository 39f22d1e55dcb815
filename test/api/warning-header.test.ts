import { expect, test } from 'vitest';
import { warningHeader } from '../../src/api/answers.ts';

test.each([
  ['on main', '299 holdfast "on main"'],
  ['on "a\\b"', '299 holdfast "on \\"a\\\\b\\""'],
  ['on über', '299 holdfast "on %C3%BCber"'],
  ['on \r\nX-Evil: 1', '299 holdfast "on %0D%0AX-Evil: 1"'],
  ['on \ud800', '299 holdfast "on %EF%BF%BD"'],
])('%j', (text, header) => {
  expect(warningHeader([text])).toEqual({ Warning: header });
  expect(() => new Headers(warningHeader([text]))).not.toThrow();
});

test('several texts are one header, and none is none', () => {
  expect(warningHeader(['one', 'two, "three"'])).toEqual({
    Warning: '299 holdfast "one", 299 holdfast "two, \\"three\\""',
  });
  expect(warningHeader([])).toEqual({});
});
