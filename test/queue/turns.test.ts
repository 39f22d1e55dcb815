import { expect, test } from 'vitest';
import { jobs } from '../../src/database/queue/jobs.ts';
import type { TakenJob } from '../../src/database/queue/queue.ts';
import { Turns } from '../../src/database/queue/turns.ts';

let ids = 0n;
/** A job about a pull request of a repository of an owner. */
const about = (owner: string, repository: number, number = 1): TakenJob => ({
  id: ++ids,
  job: { ...jobs.reconcilePullRequest(BigInt(repository), { number, installationId: owner }), owner },
});
const dataOf = (taken: TakenJob) => taken.job.data as { repositoryId: string };
const rules = {
  takers: 8,
  jobs: 2,
  together: (job: TakenJob['job']) => dataOf({ id: 0n, job }).repositoryId,
};
const ofNobody = ({ id, job: { owner: _, ...job } }: TakenJob): TakenJob => ({
  id,
  job: job as TakenJob['job'],
});
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
  turns.add([1, 2, 3, 4].map((each) => ofNobody(about('a', each))));
  expect(batchesOf(turns)).toEqual(['1,2,3', '4']);
});

test('without groups owners take turns, and none keeps more than half of the takers', () => {
  const turns = new Turns({ takers: 8, jobs: 1 });
  const alone = [8, 9].map((each) => ofNobody(about('', each)));
  turns.add([...[1, 2, 3, 4, 5, 6].map((each) => about('a', each)), about('b', 7), ...alone]);
  const first = turns.next()!;
  expect(batchesOf(turns)).toEqual(['7', '8', '2', '9', '3', '4']);
  turns.end(first);
  expect(batchesOf(turns)).toEqual(['5']);
});

test('where the newest have their turn too, every second job of an owner is the one that was sent last', () => {
  const turns = new Turns({ takers: 40, jobs: 1, newestToo: true });
  const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((each) => about('a', each)) as TakenJob[];
  turns.add([three!, one!, four!, two!]);
  const begun = [turns.next(), turns.next()].map((batch) => dataOf(batch!.jobs[0]!).repositoryId);
  turns.add([five!]);
  expect([...begun, ...batchesOf(turns)]).toEqual(['1', '4', '2', '5', '3']);
});

test('what waits is handed back without a taker', () => {
  const turns = new Turns(rules);
  const waiting = [about('a', 1), about('b', 2)];
  turns.add(waiting);
  expect(turns.clear()).toEqual(waiting);
  expect(turns.next()).toBeNull();
});

test('lanes of an owner that has its share wait, and those of others do not', () => {
  const turns = new Turns({ takers: 8, jobs: 1, ofOwner: 2 });
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
