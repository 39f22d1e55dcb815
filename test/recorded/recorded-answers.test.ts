import { describe, expect, test } from 'vitest';
import { recordings, setupOfProofs } from './recording.ts';
import { differencesOf, setups } from './setups.ts';
import { tooKind } from './too-kind.ts';

describe('the sandbox answers as GitHub was recorded to', () => {
  test.each(Object.keys(recordings).filter((name) => !(name in tooKind)))('%s', async (name) => {
    expect(await differencesOf(recordings[name]!)).toEqual([]);
  });
});

test('what is listed as too kind is a recording that the sandbox answers otherwise', async () => {
  for (const name of Object.keys(tooKind)) {
    expect(recordings, 'too-kind.ts names a file that is not there').toHaveProperty(name);
    expect(await differencesOf(recordings[name]!), `Remove ${name} from too-kind.ts`).not.toEqual([]);
  }
});

test('each setup is that of a recording', () => {
  // test/prove replays proofs of the sandbox.
  const used = new Set([setupOfProofs, ...Object.values(recordings).flatMap(({ setup = [] }) => setup)]);
  expect(Object.keys(setups).filter((word) => !used.has(word))).toEqual([]);
});

test('each recording names its source', () => {
  expect(Object.values(recordings).filter(({ source }) => !/\S/.test(source))).toEqual([]);
});
