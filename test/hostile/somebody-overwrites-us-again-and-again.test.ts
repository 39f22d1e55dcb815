// Who writes over our status again and again is answered later and later, and never keeps a new verdict waiting.
import { expect, test } from 'vitest';
import { free, type Freeze, heldUntilRemoved, acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();

const minute = 60_000;
const after = (milliseconds: number) => acme.advanceTo(new Date(acme.clock.now() + milliseconds));
const headOf = (repository: string) =>
  acme.app.deps.db.headStatus.findFirstOrThrow({
    where: { repositoryId: BigInt(acme.github.repository(repository).id) },
  });

/** When each status of ours was posted on the head of the pull request. */
function ours(repository: string): number[] {
  const { headSha } = acme.github.pullRequest(repository, 1);
  return acme.github
    .statusHistory(repository, headSha, 'holdfast/freeze')
    .filter(({ creator }) => creator === 'holdfast[bot]')
    .map(({ createdAt }) => createdAt.getTime());
}

async function overwrite(repository: string, more: { description?: string; id?: number } = {}) {
  acme.github.postStatus(repository, 1, { by: 'bob', state: 'success', description: 'mine', ...more });
  await acme.quiet();
}

async function progress(repository: string, { id }: Freeze) {
  const path = `/v1/repos/${repository}/scheduled_freeze/${id}/enforcement`;
  return (await acme.call('GET', path, { as: acme.admin })).body.pull_requests;
}

test('an id above all others is answered once, and a freeze holds at once', async () => {
  const web = await acme.repository('web', [{}]);
  await overwrite(web, { id: 4_000_000_000 });
  expect(acme.shown(web, 1)).toEqual(free);
  for (let minutes = 0; minutes < 60; minutes += 10) await after(10 * minute);
  expect(ours(web)).toHaveLength(2);
  await acme.freeze(web);
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  await overwrite(web);
  expect(acme.shown(web, 1)).toEqual(heldUntilRemoved);
  expect(ours(web)).toHaveLength(4);
});

test('ids that begin again below ours, as after a restored backup, are corrected', async () => {
  const backup = await acme.repository('backup', [{}]);
  await acme.freeze(backup);
  await after(10_000);
  await overwrite(backup, { id: 1_000 });
  expect(acme.shown(backup, 1)).toEqual(heldUntilRemoved);
});

test('a freeze does not wait for earlier pauses', async () => {
  const api = await acme.repository('api', [{}]);
  for (let times = 0; times < 8; times++) await overwrite(api);
  expect((await headOf(api)).isWaiting).toBe(true);
  expect(acme.shown(api, 1)).toMatchObject({ description: 'mine' });
  await acme.freeze(api);
  expect(acme.shown(api, 1)).toEqual(heldUntilRemoved);
});

test('after twenty repeats an hour it counts as contested, is logged once, and is tried slowly', async () => {
  const { clock } = acme;
  const lib = await acme.repository('lib', [{}]);
  const freeze = await acme.freeze(lib);
  const begin = clock.now();
  while (ours(lib).length < 26) {
    await overwrite(lib);
    const { notBefore, isWaiting, notHeld } = await headOf(lib);
    expect(isWaiting || acme.shown(lib, 1)!.state === 'pending').toBe(true);
    if (isWaiting) expect((await progress(lib, freeze)).held).toBe(0);
    if (notHeld) expect(ours(lib).length).toBeGreaterThan(21);
    if (notBefore.getTime() > clock.now()) await acme.advanceTo(notBefore);
    await after(0);
  }
  const writes = ours(lib).slice(2);
  for (const from of writes)
    expect(writes.filter((at) => at >= from && at < from + 60 * minute).length).toBeLessThanOrEqual(20);
  expect(writes.at(-1)! - begin).toBeGreaterThan(60 * minute);
  expect(await headOf(lib)).toMatchObject({ notHeld: 'contested' });
  expect(await progress(lib, freeze)).toMatchObject({ to_hold: 1, held: 0 });
  expect(await acme.events(lib, 'freeze_status.contested')).toMatchObject([
    {
      outcome: 'failure',
      trigger: 'github',
      metadata: {
        state: 'success',
        description: 'mine',
        expected_state: 'pending',
        contested_by: { name: 'bob' },
      },
    },
  ]);

  // They stop: within minutes it is known to hold.
  await after(6 * minute);
  await after(6 * minute);
  expect(acme.shown(lib, 1)).toEqual(heldUntilRemoved);
  expect(await headOf(lib)).toMatchObject({ notHeld: null });
  expect(await progress(lib, freeze)).toMatchObject({ to_hold: 1, held: 1 });
  expect(await acme.events(lib, 'freeze_status.contested')).toHaveLength(1);
  await acme.remove(lib, freeze.id);
  expect(acme.shown(lib, 1)).toEqual(free);
});
