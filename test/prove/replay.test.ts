// A proof is a recording: a sandbox of another test, to which the same is said, answers the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { steps } from '../../src/prove/steps/all.ts';
import { type Recording, recordingsIn } from '../recorded/recording.ts';
import { differencesOf } from '../recorded/setups.ts';
import { type ProvingGround, startProvingGround } from './proof.ts';

let ground: ProvingGround;
beforeAll(async () => {
  ground = await startProvingGround();
});
afterAll(() => ground.close());

/** All but what makes hundreds of statuses. */
const names = steps.filter(({ costs }) => !costs).map(({ name }) => name);

describe('a proof is replayed as it is written', () => {
  let recordings: Record<string, Recording>;
  beforeAll(async () => {
    const { proof } = await ground.prove();
    recordings = Object.fromEntries(recordingsIn('prove', proof));
  });

  test.each(names)('%s: the sandbox answers as it did', async (name) => {
    const recording = recordings[`prove: ${name}`]!;
    expect(recording.source).toMatch(/^holdfast prove \d\S* on 127\.0\.0\.1:\d+, 2026-11-26$/);
    expect(await differencesOf(recording)).toEqual([]);
  });
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
