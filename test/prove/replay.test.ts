// A proof is a recording: a sandbox of another test, to which the same is said, answers the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordingsIn } from '../recorded/recording.ts';
import { differencesOf } from '../recorded/setups.ts';
import { type ProvingGround, startProvingGround } from './proof.ts';

let ground: ProvingGround;
beforeAll(async () => {
  ground = await startProvingGround();
});
afterAll(() => ground.close());

test('a proof is replayed as it is written, and the sandbox answers as it did', async () => {
  const { proof } = await ground.prove([
    '--only',
    'missing,released,texts,async,forged,stack-key,hint,flip,renamed,archived,pinned,deployment-careless,environment',
  ]);
  const recordings = recordingsIn('prove', proof);
  expect(recordings).toHaveLength(13);
  for (const [name, recording] of recordings) {
    expect(recording.source).toMatch(/^holdfast prove \d\S* on 127\.0\.0\.1:\d+, 2026-11-26$/);
    expect(await differencesOf(recording), name).toEqual([]);
  }
});

test('an answer that differs from the proof is found', async () => {
  const { proof } = await ground.prove(['--only', 'archived']);
  const text = JSON.stringify(proof).replaceAll('Repository was archived', 'Repository is asleep');
  expect(text).not.toBe(JSON.stringify(proof));
  const [[, recording]] = recordingsIn('prove', JSON.parse(text)) as [
    ReturnType<typeof recordingsIn>[number],
  ];
  expect(await differencesOf(recording)).toEqual([expect.stringContaining('Repository is asleep')]);
});

test('a proof has no name, id, time or token of its run', async () => {
  const { proof } = await ground.prove(['--only', 'released,comment']);
  const text = JSON.stringify(proof.steps.map(({ exchanges }) => exchanges));
  expect(text).not.toMatch(/olga|proving-ground|holdfast-prove-[0-9a-f]{8}|gh[ops]_|2026-11-26|BEGIN/);
  const again = await ground.prove(['--only', 'released,comment']);
  expect(again.proof.steps.map(({ exchanges }) => exchanges)).toEqual(
    proof.steps.map(({ exchanges }) => exchanges),
  );
});
