import { expect, test } from 'vitest';
import { unknownFields } from '../../src/api/answers.ts';

test('names of up to 60 characters are shown whole, and ten of them', () => {
  const [short, long] = ['x'.repeat(60), 'y'.repeat(61)];
  const body = {
    [short]: 1,
    [long]: 1,
    ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`z${at}`, 1])),
  };
  const said = unknownFields(body, ['reason'], [], 'a freeze');
  expect(said[0]).toBe(`\`${short}\` is not a field of a freeze, so it does nothing. Leave it out.`);
  expect(said[1]).toBe(
    `\`${'y'.repeat(59)}…\` is not a field of a freeze, so it does nothing. Leave it out.`,
  );
  expect(said.slice(10)).toEqual(['The body has 1 more fields that are not fields of a freeze.']);
});
