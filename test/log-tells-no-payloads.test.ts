import { expect, test } from 'vitest';
import { acmeForAll } from './support/acme.ts';

const acme = acmeForAll();

const marker = 'xyzzy-quiet';
const marked = (what: string) => `${marker}-${what}`;

test('at the level trace no line holds what people wrote in a private repository', async () => {
  const { github, quiet, logs, app } = acme;
  const vault = await acme.repository('vault', [], { private: true });
  github.openPullRequest(vault, {
    author: 'ada',
    title: marked('title'),
    body: marked('body'),
    labels: [marked('label')],
    head: marked('branch'),
  });
  await quiet();
  await acme.freeze(vault, { matching_conditions: [`label=${marked('label')}`, 'body~=quiet'] });
  expect(acme.frozen(vault)).toEqual([1]);
  await acme.call('GET', `/v1/repos/${vault}/pulls/1/freezes`, { as: acme.admin });
  // A webhook whose work fails, and answers of GitHub that fail: errors carry what they were about.
  const { queue } = app.deps;
  const { sendAfter } = queue;
  queue.sendAfter = () => Promise.reject(new Error('no queue'));
  github.label(vault, 1, marked('other'));
  await github.settled();
  queue.sendAfter = sendAfter;
  expect(github.deliveries.at(-1)!.statusCode).toBe(500);
  const fault = github.faults.add({
    match: { method: 'POST', path: /graphql/ },
    kind: 'status',
    status: 502,
  });
  github.editTitle(vault, 1, marked('title-again'));
  await quiet();
  expect(logs.join('')).toContain('/graphql');
  fault.remove();
  await acme.advanceTo(new Date(acme.clock.now() + 120_000));
  const levels = new Set(logs.map((line) => JSON.parse(line).level));
  expect([...levels]).toEqual(expect.arrayContaining([20, 30, 50]));
  expect(logs.filter((line) => line.includes(marker))).toEqual([]);
});
