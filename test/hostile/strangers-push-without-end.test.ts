// Anybody can push to pull requests from a fork of a public repository, as often as they like. They get a share of the
// pace, never the whole: freezes of other repositories begin and end in time.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acmeForAll, type Freeze } from '../support/acme.ts';
import { instantHoldsOf } from '../support/instant-holds.ts';

const perMinute = 60;
const acme = acmeForAll({ statusWritesPerMinute: { least: perMinute, most: perMinute } }, { lock: true });

/** Pull requests of each of the others. */
const few = 3;
/** Pull requests of the stranger. A push to each in every step is more than the pace allows. */
const many = 5;
const step = 4000;
/** How long so many writes take without a burst, and what the rhythm of the writer adds. */
const timeOf = (writes: number) => writes / ((perMinute * 0.75) / 60_000) + step;

let pub: string;
let lock: string;
beforeAll(async () => {
  acme.github.addUser('eve');
  const forks = Array.from({ length: many }, () => ({ author: 'eve', fork: true, title: 'docs: typo' }));
  pub = await acme.repository('pub', forks);
  lock = await instantHoldsOf(acme).held('lock', 'lock', forks);
  await acme.freeze(pub, { matching_conditions: ['base=main'] });
  await acme.freeze(lock, { exclude_conditions: ['title~=^docs'] });
});

/** A frozen repository, and one that is free. */
let secret: string;
let other: string;
let ongoing: Freeze;
let made = 0;
beforeEach(async () => {
  secret = await acme.repository(`secret-${++made}`, Array(few).fill({}));
  other = await acme.repository(`other-${made}`, Array(few).fill({}));
  ongoing = await acme.freeze(secret);
  for (const { number } of acme.github.pullRequests(other).slice(1))
    acme.github.setTestMergeUnderWay(other, number, true);
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await useUpBurst();
});

const useUpBurst = () =>
  acme.app.deps.db.installation.updateMany({
    data: { paceTokens: 0, paceCountedAt: new Date(acme.clock.now()) },
  });

type Attack = () => void;
const numbers = Array.from({ length: many }, (_, index) => index + 1);
const pushTo =
  (repository: () => string): Attack =>
  () =>
    numbers.forEach((number) => acme.github.push(repository(), number));
/** Each comes green from a branch that is not frozen. */
const retarget: Attack = () => {
  const base = acme.github.pullRequests(pub)[0]!.base === 'main' ? 'release' : 'main';
  numbers.forEach((number) => acme.github.retarget(pub, number, base));
};

/** Lets time pass, while somebody attacks in each step. */
async function pass(duration: number, attack: Attack = () => {}): Promise<void> {
  for (let passed = 0; passed < duration; passed += step) {
    attack();
    await acme.advanceTo(new Date(acme.clock.now() + step));
  }
}

const isAll = (repository: string, state: string) =>
  acme.github.pullRequests(repository).every(({ number }) => acme.shown(repository, number)?.state === state);

describe.each<[string, Attack, number]>([
  ['nobody does anything', () => {}, 1],
  ['a stranger pushes to a frozen repository', pushTo(() => pub), 1],
  ['a stranger pushes to one that a ruleset blocks', pushTo(() => lock), 1],
  // Their holes and releases take turns with those of others.
  ['a stranger retargets to a frozen branch', retarget, 2],
])('while %s', (_name, attack, times) => {
  test('a freeze begins and one ends: what must be held comes first', async () => {
    await pass(2 * step, attack);
    await acme.freeze(other);
    await acme.remove(secret, ongoing.id);
    await pass(times * timeOf(few), attack);
    expect(isAll(other, 'pending')).toBe(true);
    await pass(times * timeOf(few), attack);
    expect(isAll(secret, 'success')).toBe(true);
  });
});

/** The repositories and numbers of the statuses that are written while something is done. */
async function writesDuring(run: () => Promise<unknown>): Promise<{ of: string; state: string }[]> {
  const writes: { of: string; state: string }[] = [];
  const stop = acme.github.onStatus(({ repository, sha, state, context }) => {
    const { number } = acme.github.pullRequests(repository).find(({ headSha }) => headSha === sha) ?? {};
    writes.push({ of: `${repository}#${number}${context === 'holdfast/freeze' ? '' : ' context'}`, state });
  });
  await run();
  stop();
  return writes;
}

test('a pull request whose head changes again and again costs one write at a time', async () => {
  const writes = await writesDuring(async () => {
    for (let pushes = 0; pushes < 5; pushes++) {
      acme.github.push(pub, 1);
      await acme.quiet();
    }
    const { db } = acme.app.deps;
    expect(await db.headStatus.count({ where: { isWaiting: true } })).toBe(1);
    await pass(timeOf(5));
  });
  expect(writes).toEqual([{ of: `${pub}#1`, state: 'pending' }]);
});

test('the pull requests of a fork wait for one of another, and not for all', async () => {
  const { number } = acme.github.openPullRequest(pub, { author: 'bob', fork: true });
  await pass(step);
  await useUpBurst();
  pushTo(() => pub)();
  await acme.advanceTo(new Date(acme.clock.now() + 500));
  acme.github.push(pub, number);
  await acme.quiet();
  const writes = await writesDuring(() => pass(timeOf(many)));
  // The other had the last turn.
  expect(writes.slice(0, 3).map(({ of }) => of)).toContain(`${pub}#${number}`);
  acme.github.closePullRequest(pub, number);
});

test('an instant hold that begins waits for holes, and has half of the pace beside others that wait', async () => {
  const { held, rulesets } = instantHoldsOf(acme);
  const begins = await held(`begins-${made}`, 'lock', Array(many).fill({ labels: ['hotfix'] }));
  await acme.advanceTo(new Date(acme.clock.now() + 60_000));
  await useUpBurst();
  const writes = await writesDuring(async () => {
    await Promise.all([
      acme.freeze(begins, { exclude_conditions: ['label=hotfix'] }),
      acme.freeze(other),
      acme.remove(secret, ongoing.id),
    ]);
    await pass(timeOf(many + 2 * few));
  });
  expect(rulesets(begins)).toMatchObject([{ enforcement: 'active' }]);
  const kinds = writes.map(({ of }) => of.split('#')[0]!);
  expect(kinds.slice(0, few)).toEqual(Array(few).fill(other));
  // In turns, whoever begins.
  const shared = kinds.slice(few, 3 * few);
  expect(shared.filter((each) => each === begins)).toHaveLength(few);
  expect(kinds.slice(3 * few).every((each) => each === begins)).toBe(true);
  expect(writes).toHaveLength(many + 2 * few);
});
