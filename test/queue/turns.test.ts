import { expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import type { TakenJob } from '../../src/database/queue/queue.ts';
import { Turns } from '../../src/database/queue/turns.ts';

let ids = 0n;
/** A job about a pull request of a repository of an owner. */
const about = (owner: string, repository: number, number = 1): TakenJob => ({
  id: ++ids,
  job: jobs.reconcilePullRequest(BigInt(repository), { number, installationId: owner }),
});
const dataOf = (taken: TakenJob) => taken.job.data as { repositoryId: string; installationId: string };
const rules = {
  takers: 8,
  jobs: 2,
  together: (job: TakenJob['job']) => dataOf({ id: 0n, job }).repositoryId,
  owner: (job: TakenJob['job']) => dataOf({ id: 0n, job }).installationId,
};
const batchesOf = (turns: Turns) => {
  const begun: string[] = [];
  for (let batch; (batch = turns.next());)
    begun.push(batch.jobs.map((each) => dataOf(each).repositoryId).join());
  return begun;
};

test('a batch has jobs of one group, and groups take turns', () => {
  const turns = new Turns(rules);
  turns.add([about('a', 1), about('a', 1), about('a', 1), about('b', 2), about('b', 2), about('c', 3)]);
  expect(batchesOf(turns)).toEqual(['1,1', '2,2', '3', '1']);
});

test('a slow group keeps three takers, and its other jobs wait', () => {
  const turns = new Turns(rules);
  turns.add(Array.from({ length: 20 }, () => about('a', 1)));
  const first = turns.next()!;
  expect(batchesOf(turns)).toEqual(['1,1', '1,1']);
  turns.add([about('b', 2)]);
  expect(batchesOf(turns)).toEqual(['2']);
  expect(turns.size).toBe(14);
  turns.end(first);
  expect(batchesOf(turns)).toEqual(['1,1']);
});

test('a slow owner keeps half of the takers, and its other jobs wait', () => {
  const turns = new Turns(rules);
  turns.add(Array.from({ length: 20 }, (_, repository) => about('a', repository)));
  expect(batchesOf(turns)).toHaveLength(4);
  turns.add([about('b', 99)]);
  expect(batchesOf(turns)).toEqual(['99']);
});

test('without rules about groups, a batch has what comes next', () => {
  const turns = new Turns({ takers: 2, jobs: 3 });
  turns.add([about('a', 1), about('b', 2), about('c', 3), about('d', 4)]);
  expect(batchesOf(turns)).toEqual(['1,2,3', '4']);
});

test('what waits is handed back without a taker', () => {
  const turns = new Turns(rules);
  const waiting = [about('a', 1), about('b', 2)];
  turns.add(waiting);
  expect(turns.clear()).toEqual(waiting);
  expect(turns.next()).toBeNull();
});

test('lanes of an owner that has its share wait, and those of others do not', () => {
  const turns = new Turns({ takers: 8, jobs: 1, ofOwner: 2, owner: rules.owner });
  const lane = (owner: string, number: number): TakenJob => {
    const taken = about(owner, number);
    return { ...taken, job: { ...taken.job, lane: `${owner} ${number}` } as TakenJob['job'] };
  };
  turns.add([lane('a', 1), lane('a', 2), lane('a', 3), lane('b', 4), lane('b', 5)]);
  const first = turns.next()!;
  expect(first.jobs).toHaveLength(1);
  expect(batchesOf(turns)).toEqual(['2', '4', '5']);
  turns.end(first);
  expect(batchesOf(turns)).toEqual(['3']);
});
