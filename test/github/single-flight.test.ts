import { expect, test } from 'vitest';
import { tooManyRequests } from '../../src/errors.ts';
import { SingleFlight } from '../../src/github/single-flight.ts';

test('if the first caller is limited, one of the others asks for all', async () => {
  const flight = new SingleFlight<string>();
  let asked = 0;
  const first = flight.run('key', async () => {
    throw tooManyRequests('too much', 1);
  });
  const others = Array.from({ length: 5 }, () => flight.run('key', async () => `answer ${++asked}`));
  await expect(first).rejects.toThrow('too much');
  expect(await Promise.all(others)).toEqual(Array(5).fill('answer 1'));
});
