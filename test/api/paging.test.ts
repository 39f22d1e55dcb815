import { expect, test } from 'vitest';
import { pageByIds } from '../../src/api/answers.ts';

const all = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }));

test.each([
  [undefined, 2, ['a', 'b'], 'c', null],
  ['c', 2, ['c', 'd'], 'e', 'a'],
  ['e', 2, ['e'], null, 'c'],
  ['b', 2, ['b', 'c'], 'd', 'a'],
  ['a', 5, ['a', 'b', 'c', 'd', 'e'], null, null],
  [undefined, 100, ['a', 'b', 'c', 'd', 'e'], null, null],
])('from %s, %i of a list: %j, then %s, before %s', (cursor, size, ids, next, prev) => {
  const page = pageByIds(all, { cursor, per_page: size }, 'plan');
  expect(page.items.map(({ id }) => id)).toEqual(ids);
  expect(page.cursors).toEqual({ next, prev });
});

test('a cursor of nothing in the list is refused', () => {
  expect(() => pageByIds(all, { cursor: 'x', per_page: 2 }, 'plan')).toThrow(
    'This cursor is of no plan in this list. Leave it out to start at the oldest plan.',
  );
});
