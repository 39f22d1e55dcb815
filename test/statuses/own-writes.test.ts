import { expect, test } from 'vitest';
import { OwnWrites } from '../../src/statuses/own-writes.ts';

const sha = 'a'.repeat(40);
const says = { state: 'pending', description: 'Frozen' } as const;
const event = { ...says, id: '7', by: 'holdfast[bot]', byId: 1 };
const write = (writes: OwnWrites, id = 7n) => writes.during(sha, says, async () => ({ id }));

test('an event is an echo when its id is that of a write of ours, on its commit', async () => {
  const writes = new OwnWrites();
  expect(writes.isEcho(sha, event)).toBe(false);
  expect(await write(writes)).toEqual({ id: 7n });
  expect(writes.isEcho(sha, event)).toBe(true);
  expect(writes.isEcho(sha, { ...event, id: '8' })).toBe(false);
  expect(writes.isEcho('b'.repeat(40), event)).toBe(false);
});

test('while a write is under way, the same status of a bot is an echo', async () => {
  const writes = new OwnWrites();
  const { promise: answer, resolve } = Promise.withResolvers<{ id: bigint }>();
  const written = writes.during(sha, says, () => answer);
  expect(writes.isEcho(sha, event)).toBe(true);
  expect(writes.isEcho(sha, { ...event, by: 'bob' })).toBe(false);
  expect(writes.isEcho(sha, { ...event, state: 'success' })).toBe(false);
  expect(writes.isEcho(sha, { ...event, description: 'Free' })).toBe(false);
  expect(writes.isEcho('b'.repeat(40), event)).toBe(false);
  resolve({ id: 7n });
  await written;
  expect(writes.isEcho(sha, { ...event, id: '8' })).toBe(false);
});

test('a write whose answer was lost is not known', async () => {
  const writes = new OwnWrites();
  const lost = writes.during(sha, says, async (): Promise<{ id: bigint }> => {
    throw new Error('socket hang up');
  });
  await expect(lost).rejects.toThrow('socket hang up');
  expect(writes.isEcho(sha, event)).toBe(false);
});

test('the oldest is forgotten when there are too many', async () => {
  const writes = new OwnWrites();
  for (let id = 1n; id <= 10_001n; id++) await write(writes, id);
  expect(writes.isEcho(sha, { ...event, id: '1' })).toBe(false);
  expect(writes.isEcho(sha, { ...event, id: '2' })).toBe(true);
});
