import { expect, test } from 'vitest';
import { unseenIn } from '../../src/statuses/seen-before.ts';

type Given = Parameters<typeof unseenIn>;
const seen = (number: number, headSha: string, seenBy: bigint) => ({
  number,
  headSha,
  mergeSha: null,
  seenBy,
});
const unseen = (of: string) =>
  unseenIn(
    { observation: 5n } as Given[0],
    { of } as Given[1],
    [seen(1, 'a', 4n), seen(2, 'a', 6n), seen(3, 'b', 6n), seen(4, 'a', 6n)] as Given[2],
    new Set([4]),
    new Set(['a']),
  ).map(({ number }) => number);

test.each([
  ['closed', []],
  // What an earlier observation saw and one of all open ones did not is no longer open.
  ['open', [2]],
  ['some', [1, 2, 3]],
])('in an observation of %s ones', (of, numbers) => expect(unseen(of)).toEqual(numbers));
