import { beforeAll, expect, test } from 'vitest';
import { openObservation } from '../../src/statuses/observe.ts';
import { NotNow } from '../../src/database/queue/define-task.ts';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
let id: bigint;
/** Resolves when a statement in this database waits for another one. */
const somebodyWaits = () =>
  expect
    .poll(() =>
      acme.app.deps.sql.query(
        'test-waits',
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    )
    .not.toHaveLength(0);

beforeAll(async () => {
  await acme.repository('web');
  ({ id } = await acme.app.deps.db.repository.findFirstOrThrow({ where: { nameKey: 'web' } }));
});

test('each observation has a number of its own, and knows the ongoing freezes alone', async () => {
  await acme.freeze('acme/web', { start: '2027-01-01T00:00:00' });
  const { deps } = acme.app;
  const [one, other] = [await openObservation(deps, id), await openObservation(deps, id)];
  expect(other.observation).toBe(one.observation + 1n);
  expect(other.freezes).toEqual([]);
  const freeze = await acme.freeze('acme/web', {
    public_reason: 'Release',
    matching_conditions: ['label=x'],
  });
  const { freezes, from } = await openObservation(deps, id);
  expect(freezes.map((each) => each.freeze)).toMatchObject([
    { id: freeze.id, publicReason: 'Release', endsAt: null },
  ]);
  expect(from.needs.facts).toContain('labels');
  await acme.remove('acme/web', freeze.id);
});

test('of exemptions that are over it knows those that let something through, for an hour', async () => {
  const { deps } = acme.app;
  acme.github.openPullRequest('acme/web', { author: 'ada' });
  await acme.quiet();
  const path = '/v1/repos/acme/web';
  const wes = acme.github.addUser('wes');
  acme.github.setRole('acme/web', 'wes', 'write');
  const end = async (as: string) => {
    const body = { reason: 'A fix' };
    const made = await acme.call('POST', `${path}/pulls/1/exemptions`, { as, body });
    expect(made.status, made.text).toBe(201);
    const revoke = `${path}/exemptions/${made.body.id}/revoke`;
    expect((await acme.call('POST', revoke, { as, body })).status).toBe(200);
    return made.body.id as string;
  };
  // Whoever can write could ask and take back all day.
  await end(wes.token);
  const approved = await end(acme.admin);
  await acme.quiet();
  expect((await openObservation(deps, id)).exemptions.map((each) => each.id)).toEqual([approved]);
  await acme.advanceTo('2026-03-01T10:00:01Z');
  expect((await openObservation(deps, id)).exemptions).toEqual([]);
});

// The embedded database has one connection, on which nothing overlaps.
test.skipIf(!process.env.TEST_DATABASE_URL)(
  'a later number never knows less than an earlier one',
  async () => {
    const { deps } = acme.app;
    const { sql } = deps;
    let later: ReturnType<typeof openObservation>;
    await sql.transaction(async (tx) => {
      const [{ observations }] = (await tx.query<{ observations: bigint }>(
        'test-number',
        'UPDATE repositories SET observations = observations + 1 WHERE id = $1 RETURNING observations',
        [id],
      )) as [{ observations: bigint }];
      // It has read the freezes, and waits for its number.
      later = openObservation(deps, id);
      await somebodyWaits();
      await tx.query(
        'test-freeze',
        `INSERT INTO freezes (id, repository_id, reason, start, timezone, starts_at, matching_conditions,
        exclude_conditions, created_at, created_by, updated_at, updated_by)
      VALUES (gen_random_uuid(), $1, 'Earlier', '2026-01-01T00:00:00', 'UTC', '2026-01-01T00:00:00Z', '[]', '[]',
        now(), '{}', now(), '{}')`,
        [id],
      );
      expect(observations).toBeGreaterThan(0n);
    });
    const { freezes } = await later!;
    expect(freezes.map(({ freeze }) => freeze.reason)).toEqual(['Earlier']);
  },
);

test.skipIf(!process.env.TEST_DATABASE_URL)(
  'an observation that waits for the change of a freeze knows it',
  async () => {
    const { deps } = acme.app;
    const { sql } = deps;
    const { id: freezeId } = await acme.freeze('acme/web', { reason: 'Deleted meanwhile' });
    let later: ReturnType<typeof openObservation>;
    await sql.transaction(async (tx) => {
      const now = new Date(acme.clock.now());
      await tx.query('test-delete', 'UPDATE freezes SET deleted_at = $2 WHERE id = $1', [freezeId, now]);
      await tx.query('test-ask', 'UPDATE repositories SET reconcile_requested_at = $2 WHERE id = $1', [
        id,
        now,
      ]);
      later = openObservation(deps, id);
      await somebodyWaits();
    });
    const { freezes } = await later!;
    expect(freezes.map(({ freeze }) => freeze.id)).not.toContain(freezeId);
  },
);

test('a pause of the installation is when to come back, and what is archived is never observed', async () => {
  const { deps } = acme.app;
  const until = new Date('2026-03-01T12:00:00Z');
  await deps.db.installation.updateMany({ data: { readsPausedUntil: until } });
  const paused = await openObservation(deps, id).catch((error: unknown) => error);
  expect(paused).toBeInstanceOf(NotNow);
  expect(paused).toMatchObject({ until });
  await deps.db.repository.update({ where: { id }, data: { archived: true } });
  await expect(openObservation(deps, id)).rejects.toMatchObject({ until: null });
});
