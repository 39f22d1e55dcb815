import { afterAll, beforeAll } from 'vitest';

/** What is started before the first test of a file and closed after its last one. It can be used in between. */
export function forAll<World extends { close(): Promise<void> }>(start: () => Promise<World>): World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await start();
  });
  afterAll(async () => {
    await world?.close();
    // Modules stay loaded, and this one would keep what GitHub and the log hold.
    world = undefined;
  });
  return new Proxy({} as World, {
    get: (_, name) => Reflect.get(world!, name),
    ownKeys: () => Reflect.ownKeys(world!),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(world!, name),
      configurable: true,
    }),
  });
}
