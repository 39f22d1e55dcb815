import { describe, expect, test } from 'vitest';
import { differences } from './compare.ts';
import { converse, recordings } from './recording.ts';
import { prepared, setups } from './setups.ts';
import { tooKind } from './too-kind.ts';

const used = new Set<string>();

async function differencesOf(name: string): Promise<string[]> {
  const recording = recordings[name]!;
  for (const word of recording.setup ?? []) used.add(word);
  const { github, names, close } = await prepared(recording.setup);
  try {
    const answered = await converse(github, recording, names);
    return answered.flatMap((each, index) =>
      differences(each).map((one) => {
        const { method, path } = recording.exchanges[index]!.request;
        return `${index + 1}. ${method} ${path}: ${one}`;
      }),
    );
  } finally {
    await close();
  }
}

describe('the sandbox answers as GitHub was recorded to', () => {
  test.each(Object.keys(recordings).filter((name) => !(name in tooKind)))('%s', async (name) => {
    expect(await differencesOf(name)).toEqual([]);
  });
});

test('what is listed as too kind is a recording that the sandbox answers otherwise', async () => {
  for (const name of Object.keys(tooKind)) {
    expect(recordings, 'too-kind.ts names a file that is not there').toHaveProperty(name);
    expect(await differencesOf(name), `Remove ${name} from too-kind.ts`).not.toEqual([]);
  }
});

test('each setup is that of a recording', () => {
  expect(Object.keys(setups).filter((word) => !used.has(word))).toEqual([]);
});

test('each recording names its source', () => {
  expect(Object.values(recordings).filter(({ source }) => !/\S/.test(source))).toEqual([]);
});
