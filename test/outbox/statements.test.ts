// What many statuses cost the database: statements are counted, unlike time.
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type Acme, startAcme } from '../support/acme.ts';
import { expectAtMost, statementsDuring } from '../support/statements.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const count = 200;

/** Of the outbox: taking, settling, the lease, and what is due. What webhooks cost is not its own. */
const isOfOutbox = (text: string): boolean =>
  /^(WITH installation AS|WITH outcome AS|UPDATE installations|SELECT FROM head_statuses)|^UPDATE .{0,12}head_statuses/.test(
    text.trim(),
  );

describe.skipIf(!inject('postgresUrl'))('a freeze over many pull requests (PostgreSQL)', () => {
  let acme: Acme;
  beforeAll(async () => {
    acme = await startAcme();
    await acme.repository('web', Array(count).fill({}));
  });
  afterAll(() => acme?.close());

  test('costs the outbox less than half a statement for each status', async () => {
    const statements = await statementsDuring(() => acme.freeze('acme/web'));
    expect(acme.frozen('acme/web')).toHaveLength(count);
    const ofOutbox = statements.filter(isOfOutbox);
    expect(ofOutbox.length).toBeGreaterThan(2 * (count / 25));
    expectAtMost(count / 2, ofOutbox);
  });
});
