import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Outcome, settle } from '../../src/outbox/settle.ts';
import { type Acme, startAcme } from '../support/acme.ts';

let acme: Acme;
beforeAll(async () => {
  acme = await startAcme();
});
afterAll(() => acme.close());

test('what another worker has written over already is not settled again', async () => {
  const web = await acme.repository('web', [{}]);
  await acme.freeze(web);
  const { db } = acme.app.deps;
  const row = () => db.headStatus.findFirstOrThrow({ where: { repository: { name: 'web' } } });
  const written = await row();
  expect(written).toMatchObject({ state: 'pending', writtenState: 'pending' });
  const outcome = (id: bigint, at: Date): Outcome => ({
    write: { ...written, owner: 'acme', repo: 'web', openNumber: 1, groupNumber: null },
    ...{ state: 'success', description: 'No freeze holds it.', id, at, isNew: true, isFinal: false },
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
