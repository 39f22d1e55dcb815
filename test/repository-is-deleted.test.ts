import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

// An organization of their own: about what other repositories hold, GitHub is asked again every ten minutes.

const acme = acmeForAll();

test.each([true, false])(
  'a deleted repository is gone (with an event: %s), and its jobs end',
  async (notify) => {
    const { admin, advanceTo, clock, github } = acme;
    const inMinutes = (minutes: number) => new Date(clock.now() + minutes * 60_000);
    const gone = await acme.repository(`gone-${notify}`, [{}]);
    await acme.freeze(gone, { end: inMinutes(10).toISOString().slice(0, 19) });
    github.deleteRepository(gone, { notify });
    await acme.quiet();
    for (let minute = 0; minute < 12; minute += 2) await advanceTo(inMinutes(2));
    const { status } = await acme.call('GET', `/v1/repos/${gone}/scheduled_freeze`, { as: admin });
    expect(status).toBe(404);
    const before = github.requests.length;
    for (let minute = 0; minute < 6; minute += 2) await advanceTo(inMinutes(2));
    const asked = github.requests.slice(before).filter(({ path }) => !path.startsWith('/app/'));
    expect(asked).toEqual([]);
  },
);
