import { expect, test } from 'vitest';
import { takeLease } from '../../src/statuses/lease.ts';
import { type SettledWrite, settle } from '../../src/statuses/write-store.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();

test('a status that another worker has overwritten is not settled again', async () => {
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web);
  const { db } = acme.app.deps;
  const row = () => db.headStatus.findFirstOrThrow({ where: { repository: { name: 'web' } } });
  const written = await row();
  expect(written).toMatchObject({ state: 'pending', writtenState: 'pending' });
  const outcome = (id: bigint, at: Date): SettledWrite => ({
    write: { ...written, owner: 'acme', repo: 'web', openNumber: 1, groupNumber: null },
    state: 'success',
    description: 'No freeze holds it.',
    id,
    at,
    isNew: true,
    isFinal: false,
  });

  const earlier = new Date(written.writtenAt!.getTime() - 1000);
  await settle(acme.app.deps, [outcome(written.writtenId! - 1n, earlier)], []);
  expect(await row()).toEqual(written);

  await settle(acme.app.deps, [outcome(written.writtenId! + 1n, written.writtenAt!)], []);
  expect(await row()).toMatchObject({
    writtenId: written.writtenId! + 1n,
    writtenState: 'success',
    isWaiting: true,
  });
});

test('a verdict that goes back while its write is taken and not tried is not written twice', async () => {
  const { deps } = acme.app;
  const back = await acme.repository('back', [{}]);
  const freeze = await acme.freeze(back, { reason: 'Release' });
  const before = acme.posts(back);
  const { id } = await deps.db.installation.findFirstOrThrow();
  // As a worker of another process, whose first write of the batch hangs.
  const lease = await takeLease(deps, id);
  await lease!.take();
  await acme.update(back, freeze.id, { reason: 'Incident' });
  const turn = await lease!.take();
  if (turn.is !== 'writing') throw new Error(`nothing to write: ${turn.is}`);
  expect(turn.writes).toHaveLength(1);
  await acme.update(back, freeze.id, { reason: 'Release' });
  await settle(deps, [], turn.writes);
  await lease!.release();
  await acme.advanceTo(new Date(acme.clock.now() + 10_000));
  const where = { repository: { name: 'back' } };
  expect(await deps.db.headStatus.findFirstOrThrow({ where })).toMatchObject({
    isWaiting: false,
    attempts: 0,
    description: 'Frozen until removed: Release',
  });
  expect(acme.posts(back)).toEqual(before);
});
