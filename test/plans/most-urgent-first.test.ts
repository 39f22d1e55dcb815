import { expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

// A plan begins in many repositories at once. The pull request that is closest to merging is held first, anywhere.

const acme = acmeForAll({ statusWritesPerMinute: { least: 60, most: 60 } });

const pass = async (seconds: number) => {
  for (let passed = 0; passed < seconds; passed += 10)
    await acme.advanceTo(new Date(acme.clock.now() + 10_000));
};

test('statuses are written by urgency over all repositories of a plan', async () => {
  const { github, app } = acme;
  const names = ['one', 'two', 'three', 'four'];
  // `build` never passes: what merges by itself waits for it.
  const protect = { main: ['holdfast/freeze', 'build'] };
  const kinds = [{ draft: true }, {}, { autoMerge: true }];
  for (const name of names) await acme.repository(name, kinds, { protect });
  await pass(60);

  // No place is left in the pace: all repositories are judged before anything is written.
  const now = new Date(acme.clock.now());
  await app.deps.db.installation.updateMany({ data: { paceTokens: 0, paceCountedAt: now } });
  const written: number[] = [];
  const repositories: string[] = [];
  const stop = github.onStatus(({ repository, sha }) => {
    const pullRequest = github.pullRequests(repository).find(({ headSha }) => headSha === sha);
    written.push(pullRequest!.number);
    repositories.push(repository);
  });
  const body = {
    name: 'Incident',
    reason: 'INC-4711',
    repositories: { include: names },
    start: null,
    end: null,
    timezone: 'UTC',
  };
  const answer = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.admin, body });
  expect(answer.status, answer.text).toBe(201);
  await acme.quiet();
  expect(written).toEqual([]);
  await pass(30);
  stop();
  const [drafts, others, autoMerging] = [1, 2, 3].map((number) => Array(names.length).fill(number));
  expect(written).toEqual([...autoMerging!, ...others!, ...drafts!]);
  expect(new Set(repositories.slice(0, names.length)).size).toBe(names.length);
});
