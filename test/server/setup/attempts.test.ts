import { expect, test } from 'vitest';
import { Attempts } from '../../../src/server/setup/finish-setup.ts';

test('of several Apps, the first that can be saved is, and the others are refused', async () => {
  const attempts = new Attempts();
  const kept: string[] = [];
  const keep = (name: string) => attempts.saveFirst(async () => void kept.push(name));
  const broken = attempts.saveFirst(() => Promise.reject(new Error('the disk is full')));
  const [failed, one, two] = await Promise.allSettled([broken, keep('one'), keep('two')]);
  expect(failed).toMatchObject({ reason: { message: 'the disk is full' } });
  expect(one.status).toBe('fulfilled');
  expect(two).toMatchObject({ reason: { code: 'conflict' } });
  await expect(keep('three')).rejects.toThrow('Another GitHub App is already set up');
  expect(kept).toEqual(['one']);
});
