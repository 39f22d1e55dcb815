import { afterAll, beforeAll, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';
import { type CommandLine, commandLineFor } from '../support/command-line.ts';

const acme = acmeForAll();
let line: CommandLine;
beforeAll(async () => {
  await acme.repository('web', [{}]);
  line = commandLineFor(acme, await acme.key('acme', 'ci'));
});
afterAll(() => line.close());

const paused: number[] = [];
/** Time passes while it waits. */
const delay = async (milliseconds: number) => {
  paused.push(milliseconds / 1000);
  await acme.advanceTo(new Date(acme.clock.now() + milliseconds));
};
const gate = (...words: string[]) => line.holdfast(['gate', 'acme/web', ...words], { delay });
const deployments = { holds: ['deployments'], environments: ['prod*'] };

test('exits with 0 where nothing is frozen and 3 where something is, for an environment and for a branch', async () => {
  expect(await gate('--environment', 'production')).toMatchObject({
    code: 0,
    out: 'Free  acme/web, deployments to production\n',
    err: '',
  });
  const { id } = await acme.freeze('acme/web', deployments);
  const frozen = await gate('--environment', 'production', '--json');
  expect([frozen.code, frozen.json().freezes]).toEqual([3, [id]]);
  expect(frozen.err).toBe(
    `acme/web, deployments to production: frozen until somebody ends the freeze (${id}).\n`,
  );
  expect((await gate('--environment', 'staging')).code).toBe(0);
  expect((await gate()).code).toBe(0);
  await acme.remove('acme/web', id);
  const merges = await acme.freeze('acme/web', { matching_conditions: ['base=main'] });
  expect(await gate('--base', 'main')).toMatchObject({
    code: 3,
    out: 'Frozen  acme/web, merges into main\n',
  });
  expect((await gate('--base', 'next')).code).toBe(0);
  await acme.remove('acme/web', merges.id);
});

test('with --wait it says once why, asks again at the end or after 30 s, and gives up after its time', async () => {
  const end = new Date(acme.clock.now() + 130_000).toISOString().slice(0, 19);
  await acme.freeze('acme/web', { ...deployments, end });
  paused.length = 0;
  const gaveUp = await gate('--environment', 'production', '--wait', '1m');
  expect([gaveUp.code, paused]).toEqual([3, [30, 30]]);
  paused.length = 0;
  const waited = await gate('--environment', 'production', '--wait');
  expect([waited.code, paused, waited.out]).toEqual([
    0,
    [30, 30, 10],
    'Free  acme/web, deployments to production\n',
  ]);
  expect(waited.err.match(/frozen until .*Waiting\.$/gm)).toHaveLength(1);
});

test('exits with 2 if it cannot tell', async () => {
  const refused = await line.holdfast(['--token', 'hf_ci_wrong', 'gate', 'acme/web'], { delay });
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('Not authenticated')]);
  const nobody = await line.holdfast(['--url', 'http://127.0.0.1:1', 'gate', 'acme/web', '--wait'], {
    delay,
  });
  expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining('does not answer')]);
  expect((await gate('--environment', 'a', '--base', 'b')).code).toBe(2);
  expect((await gate('--wait', 'soon')).code).toBe(2);
  expect((await line.holdfast(['gate', 'acme'], { delay })).code).toBe(2);
});
