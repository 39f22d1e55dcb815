import { afterEach, describe, expect, test } from 'vitest';
import { acmeForAll } from '../support/acme.ts';

const acme = acmeForAll();
afterEach(() => acme.github.webhookFaults.clear());

const inMinutes = (minutes: number) => new Date(acme.clock.now() + minutes * 60_000);
const sentAgain = () =>
  acme.github.requests.filter(({ method, path }) => method === 'POST' && path.startsWith('/app/hook/'))
    .length;
const looksSince = (start: number) =>
  acme.github.requests.slice(start).filter(({ operationName }) => operationName === 'OpenPullRequests')
    .length;

describe('webhooks that failed while the service was away', () => {
  test('cause one look at their repository within a minute or two; nothing is sent again', async () => {
    const { github, app } = acme;
    const web = await acme.repository('web', [{}]);
    await acme.freeze(web, { matching_conditions: ['label=risky'] });
    const start = github.requests.length;
    github.deliverTo('http://127.0.0.1:9/nobody-listens');
    github.label(web, 1, 'risky');
    github.openPullRequest(web, { author: 'bob' });
    await github.settled();
    github.deliverTo(`${app.url}/api/github/webhooks`);
    expect(acme.frozen.bind(null, web)).toThrow('has no status');
    await acme.advanceTo(inMinutes(1));
    await acme.advanceTo(inMinutes(1));
    expect(acme.frozen(web)).toEqual([1]);
    expect(acme.shown(web, 2)).toMatchObject({ state: 'success' });
    expect(looksSince(start)).toBe(1);
    for (let minute = 0; minute < 5; minute++) await acme.advanceTo(inMinutes(1));
    expect(looksSince(start)).toBe(1);
    expect(sentAgain()).toBe(0);
  });

  test('are made good while none arrives, each with one look, however long that lasts', async () => {
    const { github, app } = acme;
    const api = await acme.repository('api', [{}]);
    await acme.freeze(api, { matching_conditions: ['label=risky'] });
    const start = github.requests.length;
    github.deliverTo('http://127.0.0.1:9/nobody-listens');
    github.label(api, 1, 'risky');
    await acme.advanceTo(inMinutes(1));
    await acme.advanceTo(inMinutes(1));
    expect(acme.frozen(api)).toEqual([1]);
    // GitHub also sends an event about our own status, and that fails too.
    for (let minute = 0; minute < 3; minute++) await acme.advanceTo(inMinutes(1));
    const looks = looksSince(start);
    for (let minute = 0; minute < 30; minute++) await acme.advanceTo(inMinutes(1));
    expect(looksSince(start)).toBe(looks);
    expect(sentAgain()).toBe(0);
    github.deliverTo(`${app.url}/api/github/webhooks`);
  });
});

describe('webhooks that GitHub never sent', () => {
  test('cost at most an hour: a pull request that no event announced gets its status', async () => {
    const { github } = acme;
    const lib = await acme.repository('lib', [{}]);
    await acme.freeze(lib, { matching_conditions: ['label=risky'] });
    const drop = github.webhookFaults.add({ kind: 'drop' });
    github.label(lib, 1, 'risky');
    github.openPullRequest(lib, { author: 'bob' });
    drop.remove();
    await acme.advanceTo(inMinutes(30));
    expect(acme.shown(lib, 2)).toBeNull();
    await acme.advanceTo(inMinutes(32));
    expect(acme.frozen(lib)).toEqual([1]);
    expect(acme.shown(lib, 2)).toMatchObject({ state: 'success' });
  });

  test('the hourly looks of many repositories are spread out', async () => {
    const { github, clock } = acme;
    for (let number = 0; number < 40; number++) await acme.repository(`many-${number}`);
    const start = github.requests.length;
    const looks = () => looksSince(start);
    await acme.advanceTo(new Date(clock.now() + 61 * 60_000));
    expect(looks()).toBeGreaterThan(0);
    expect(looks()).toBeLessThanOrEqual(15);
    for (let minute = 0; minute < 5; minute++) await acme.advanceTo(inMinutes(1));
    expect(looks()).toBeGreaterThanOrEqual(40);
  });
});

describe('the progress of a freeze', () => {
  const progress = async (repository: string, id: string) => {
    const path = `/v1/repos/${repository}/scheduled_freeze/${id}/enforcement`;
    const answer = await acme.call('GET', path, { as: acme.admin });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };

  test('counts what should be held, what is, and what waits since when', async () => {
    const { github, clock } = acme;
    const ops = await acme.repository('ops', [{ labels: ['risky'] }, { labels: ['risky'] }, {}]);
    const fault = github.faults.add({ kind: 'status', match: { method: 'POST', path: /\/statuses\// } });
    const since = new Date(clock.now()).toISOString();
    const { id } = await acme.freeze(ops, { matching_conditions: ['label=risky'] });
    expect(await progress(ops, id)).toEqual({
      phase: 'ongoing',
      switched_on: true,
      enforced: true,
      pull_requests: { to_hold: 2, to_refuse: 2, held: 0 },
      leaking: [],
      instant: { mode: 'off', state: 'off', since: null, error: null },
      not_held: [
        { pull_request: 1, reason: 'waiting' },
        { pull_request: 2, reason: 'waiting' },
      ],
      merge_groups: { to_hold: 0, held: 0 },
      waiting_writes: 2,
      waiting_since: since,
      seconds_until_held: 1,
      looked_at: since,
      look_due: false,
    });
    fault.remove();
    await acme.advanceTo(inMinutes(1));
    expect(await progress(ops, id)).toMatchObject({
      pull_requests: { to_hold: 2, held: 2 },
      waiting_writes: 0,
      waiting_since: null,
    });
  });

  test('of a future freeze is empty; of a deleted one is not found', async () => {
    const docs = await acme.repository('docs', [{}]);
    const start = inMinutes(60).toISOString().slice(0, 19);
    const { id } = await acme.freeze(docs, { start });
    expect(await progress(docs, id)).toMatchObject({
      phase: 'scheduled',
      pull_requests: { to_hold: 0, held: 0 },
    });
    await acme.remove(docs, id);
    const path = `/v1/repos/${docs}/scheduled_freeze/${id}/enforcement`;
    expect((await acme.call('GET', path, { as: acme.admin })).status).toBe(404);
  });

  test('counts merge groups too', async () => {
    const { github } = acme;
    const queue = await acme.repository('queue', [{}], { protect: { main: ['holdfast/freeze', 'ci'] } });
    github.enableMergeQueue(queue, 'main');
    github.postStatus(queue, 1, { by: 'bob', state: 'success', context: 'ci' });
    github.enqueue(queue, 1);
    await acme.quiet();
    const { id } = await acme.freeze(queue, { end: inMinutes(10).toISOString().slice(0, 19) });
    expect(await progress(queue, id)).toMatchObject({
      pull_requests: { to_hold: 1, held: 1 },
      merge_groups: { to_hold: 1, held: 1 },
    });
  });
});
