import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asks, notProven, steps } from '../../src/prove/steps/all.ts';
import { serveInside } from '../support/inside.ts';
import { type ProvingGround, startProvingGround, verdictsOf } from './proof.ts';
import { wrongGitHubs } from './wrong-githubs.ts';

let ground: ProvingGround;
beforeAll(async () => {
  ground = await startProvingGround();
});
afterAll(() => ground.close());

const names = steps.map(({ name }) => name);
const all = ['--only', names.join()];
const caught = (verdicts: Record<string, string>) => names.filter((name) => verdicts[name] === 'not held');

test('each step asks, and everything that asks is a step', () => {
  expect(Object.keys(asks).toSorted()).toEqual(names.toSorted());
  for (const { run, otherwise } of steps)
    expect([run, otherwise]).toEqual([expect.any(Function), expect.any(String)]);
});

test('what no step asks is in the documentation', () => {
  const text = readFileSync(new URL('../../docs/proved.md', import.meta.url), 'utf8');
  expect(text.match(/(?<=^- ).*/gm)).toEqual(Object.keys(notProven));
});

test('everything holds at a GitHub that does what Holdfast relies on, and nothing is left', async () => {
  const { code, proof, err } = await ground.prove(all);
  expect(proof.steps.filter(({ verdict }) => verdict !== 'held')).toEqual([]);
  expect(code).toBe(0);
  expect(err).toContain('Deleted holdfast-prove-');
  expect(await ground.repositories()).toEqual([]);
  ground.github.assertNoUnknownRoutes();
});

test('pace says which refusal came', async () => {
  ground.github.writeLimit.perMinute = 100;
  const { code, proof, markdown } = await ground.prove(['--only', 'pace']);
  ground.github.writeLimit.perMinute = Infinity;
  expect(code).toBe(0);
  expect(proof.steps[0]?.why).toMatch(
    /^Status \d+ was refused with 403 “You have exceeded a secondary rate limit.+”, which asks to wait 60 seconds\.$/,
  );
  expect(markdown).toContain('`pace`: **held**. Status ');
});

describe('a GitHub that does one thing otherwise', () => {
  test('is there for each step', () =>
    expect(Object.keys(wrongGitHubs).toSorted()).toEqual(names.toSorted()));

  test.each(names)('%s: is caught by this step, and no other says that it is', async (name) => {
    wrongGitHubs[name]!.install(ground.github);
    const { code, proof } = await ground.prove(name === 'pace' ? all : []);
    for (const { faults, webhookFaults, rulesetFaults } of [ground.github]) {
      faults.clear();
      webhookFaults.clear();
      rulesetFaults.ignoredUpdates = 0;
    }
    expect(caught(verdictsOf(proof))).toEqual([name]);
    expect(code).toBe(3);
  });
});

test.each([
  ['--out', 'nowhere'],
  ['--out', 'apps.json'],
  ['--app', 'nowhere/apps.json'],
])('%s %s cannot be written: nothing is made', async (option, path) => {
  const asked = ground.github.requests.length;
  const { code, err } = await ground.prove([option, path]);
  expect(code).toBe(2);
  expect(err).toContain('Name a folder that you can write to.');
  expect(ground.github.requests.length).toBe(asked);
});

test('a server that is no GitHub leaves everything unknown', async () => {
  const url = 'http://127.0.0.1:9';
  const asked: string[] = [];
  const leave = serveInside(url, ({ method }) => {
    asked.push(method);
    return Response.json({ message: 'Not Found' }, { status: 404 });
  });
  const { code, proof, markdown } = await ground.prove([], url);
  leave();
  expect(new Set(Object.values(verdictsOf(proof)))).toEqual(new Set(['unknown']));
  expect(code).toBe(2);
  expect(new Set(asked)).toEqual(new Set(['GET']));
  expect(markdown).toContain('unknown');
});
