// Freezes are saved, and nobody judges them: the answer is not that they are enforced.
import { Writable } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { diagnose } from '../src/cli/commands/doctor.ts';
import type { JobQueue } from '../src/database/queue/queue.ts';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();
afterEach(() => void vi.restoreAllMocks());

const pass = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

/** The worker takes nothing from now on. */
const stopWorking = () => vi.spyOn(acme.app.deps.queue as JobQueue, 'exchange').mockResolvedValue([]);

async function doctor(repository: string) {
  let out = '';
  const output = new Writable({ write: (chunk, _encoding, done) => ((out += String(chunk)), done()) });
  const code = await diagnose({ repository, url: acme.app.url, token: acme.admin, isJson: false }, output);
  return { code, out };
}
const report = async (repository: string) =>
  (await acme.call('GET', `/v1/repos/${repository}/enforcement`, { as: acme.admin })).body;
const worker = ({ findings }: { findings: { check: string; state: string }[] }) =>
  findings.find(({ check }) => check === 'worker');

test('doctor fails while no worker judges a freeze that began, and GitHub is another matter', async () => {
  const web = await acme.repository('web', [{}, {}]);
  expect(worker(await report(web))).toBeUndefined();
  await pass(1);
  const working = stopWorking();
  const { id } = await acme.freeze(web, { reason: 'INC-1' });
  expect(worker(await report(web)), 'work that has just come').toBeUndefined();
  await pass(120);
  const found = await report(web);
  expect(found).toMatchObject({ enforced: true, pull_requests: { to_hold: null } });
  expect(worker(found)).toMatchObject({
    state: 'failed',
    message: expect.stringMatching(
      /^No worker runs: jobs are due since 2026-03-01T\S+, and a freeze that began is not judged yet, so it holds nothing\.$/,
    ),
  });
  const { code, out } = await doctor(web);
  expect(out).toContain(
    'GitHub enforces what Holdfast holds, but Holdfast has not judged a freeze that began.',
  );
  expect([code, out]).toEqual([1, expect.not.stringContaining('Freezes are enforced.')]);
  const path = `/v1/repos/${web}/scheduled_freeze/${id}/enforcement`;
  expect((await acme.call('GET', path, { as: acme.admin })).body.pull_requests.to_hold).toBeNull();
  working.mockRestore();
  await pass(60);
  expect(worker(await report(web))).toBeUndefined();
  expect((await doctor(web)).code).toBe(0);
});

test('where no freeze waits, work that nobody does is a warning', async () => {
  const free = await acme.repository('free', [{}]);
  stopWorking();
  acme.github.openPullRequest(free, { author: 'bob' });
  await pass(120);
  expect(worker(await report(free))).toMatchObject({ state: 'warning' });
});
