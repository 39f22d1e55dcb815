// What Prometheus reads of a service: who may, what it says as things go well and badly, and what it costs.
import { createHmac, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import type { Deps } from '../src/deps.ts';
import { createApi } from '../src/server/service.ts';
import { Metrics } from '../src/metrics.ts';
import { jobs } from '../src/database/queue/jobs.ts';
import type { JobQueue } from '../src/database/queue/queue.ts';
import { fails, startReceiver } from '../sandbox/receiver.ts';
import { acmeForAll } from './support/acme.ts';
import { startHoldfast } from './support/holdfast.ts';
import { addWebhook } from './support/outgoing.ts';
import { shortenPatience } from './support/patience.ts';
import { samplesIn } from './support/samples.ts';
import { expectAtMost, fewestOf, statementsDuring } from './support/statements.ts';

const token = 'a-token-for-prometheus';

const acme = acmeForAll({ metricsToken: token });
afterEach(() => {
  vi.restoreAllMocks();
  acme.github.comeBack();
  acme.github.faults.clear();
});

const ask = (headers: Record<string, string> = {}, url = acme.app.url) =>
  fetch(`${url}/metrics`, { headers });
const scrape = async () => {
  const answer = await ask({ Authorization: `Bearer ${token}` });
  expect(answer.status).toBe(200);
  return samplesIn(await answer.text());
};
/** Another process on the same database, with its own counters. */
const replicaWith = (config: Partial<Deps['config']>, more: Partial<Deps> = {}) => {
  const { deps } = acme.app;
  const of = { ...deps, metrics: new Metrics(), ...more, config: { ...deps.config, ...config } };
  const api = createApi(of, deps.queue as JobQueue);
  return (authorization?: string) =>
    api.request('/metrics', { headers: authorization ? { Authorization: authorization } : {} });
};
/** An event with a valid signature. */
const deliver = (event: string) => {
  const body = '{}';
  const signature = createHmac('sha256', acme.github.app.webhookSecret).update(body).digest('hex');
  const headers = {
    'X-GitHub-Delivery': randomUUID(),
    'X-GitHub-Event': event,
    'X-Hub-Signature-256': `sha256=${signature}`,
  };
  return acme.call('POST', '/api/github/webhooks', { body, headers });
};
const later = (seconds: number) => acme.advanceTo(new Date(acme.clock.now() + seconds * 1000));

describe('who may read them', () => {
  test.each([
    ['nobody', undefined],
    ['another token', `Bearer ${token}x`],
    ['a part of it', `Bearer ${token.slice(0, -1)}`],
    ['the token without its scheme', token],
    ['the token as a password', `Basic ${btoa(`prometheus:${token}`)}`],
  ])('%s gets 401, and is told what to send', async (_, authorization) => {
    const answer = await ask(authorization ? { Authorization: authorization } : {});
    expect(answer.status).toBe(401);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="metrics"');
    expect(await answer.text()).not.toContain('holdfast_');
  });

  test('an admin key is no token', async () => {
    expect((await ask({ Authorization: `Bearer ${acme.admin}` })).status).toBe(401);
  });

  test('without METRICS_TOKEN there are none, whatever is sent', async () => {
    const read = replicaWith({ metricsToken: null });
    for (const authorization of [undefined, 'Bearer ', 'Bearer null', `Bearer ${token}`]) {
      const answer = await read(authorization);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain('Set METRICS_TOKEN');
    }
  });

  test('who sends it gets the text format', async () => {
    const answer = await ask({ Authorization: `Bearer ${token}` });
    expect(answer.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    const text = await answer.text();
    expect(text).toMatch(/^# HELP holdfast_statuses_waiting .+\n# TYPE holdfast_statuses_waiting gauge$/m);
    expect(text).toContain('\nprocess_resident_memory_bytes ');
  });
});

test('a worker serves them as well', async () => {
  const worker = await startHoldfast(() => {}, { role: 'worker', metricsToken: token });
  const answer = await ask({ Authorization: `Bearer ${token}` }, worker.app.url);
  expect(answer.status).toBe(200);
  expect(samplesIn(await answer.text()).get('holdfast_scrape_database_up')).toBe(1);
  await worker.close();
});

test('where no worker runs: which jobs wait, and how long', async () => {
  const web = await startHoldfast(() => {}, { role: 'web', metricsToken: token });
  await web.app.deps.queue.send([jobs.sweep()]);
  await web.clock.tick(1_200_000);
  const answer = await ask({ Authorization: `Bearer ${token}` }, web.app.url);
  const samples = samplesIn(await answer.text());
  expect(samples.get('holdfast_jobs_waiting{task="sweep"}')).toBe(1);
  expect(samples.get('holdfast_jobs_oldest_due_seconds{task="sweep"}')).toBeCloseTo(1200, 0);
  expect(samples.get('holdfast_jobs_oldest_due_seconds{task="keep-plan"}')).toBe(0);
  await web.close();
});

describe('what they say', () => {
  test('of a freeze that begins: webhooks, requests, statuses and how long they waited', async () => {
    const before = await scrape();
    const web = await acme.repository('web', [{}, {}]);
    await acme.freeze(web);
    await later(11);
    const after = await scrape();
    const rise = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(after.get('holdfast_scrape_database_up')).toBe(1);
    expect(rise('holdfast_freezes_ongoing')).toBe(1);
    expect(rise('holdfast_status_writes_total{outcome="written"}')).toBe(4);
    expect(rise('holdfast_status_write_delay_seconds_count')).toBe(4);
    expect(rise('holdfast_webhooks_received_total{event="pull_request"}')).toBe(2);
    expect(rise('holdfast_github_requests_total{status="2xx"}')).toBeGreaterThan(4);
    const route = 'method="POST",route="/v1/repos/:owner/:repository/scheduled_freeze"';
    expect(rise(`holdfast_http_request_duration_seconds_count{${route},status="2xx"}`)).toBe(1);
    expect(after.get('holdfast_statuses_waiting')).toBe(0);
    expect(after.get('holdfast_statuses_oldest_waiting_seconds')).toBe(0);
    expect(after.get('holdfast_jobs_failing{task="reconcile-repository"}')).toBe(0);
    const { id } = await acme.app.deps.db.installation.findFirstOrThrow();
    const left = `holdfast_github_rate_limit_remaining_ratio{installation="${id}",resource="core"}`;
    expect(after.get(left)).toBeGreaterThan(0.5);
  });

  test('of an event of GitHub: how long its status took', async () => {
    const name = 'holdfast_webhook_to_status_seconds_count';
    const pushed = await acme.repository('pushed', [{}]);
    await later(11);
    const before = (await scrape()).get(name)!;
    acme.github.push(pushed, 1);
    await acme.quiet();
    // Nothing differs, so nothing is written.
    acme.github.label(pushed, 1, 'docs');
    await acme.quiet();
    await acme.freeze(pushed);
    await later(11);
    expect((await scrape()).get(name)! - before).toBe(1);
  });

  test('of outgoing webhooks: what became of messages, how long they took, and what is due', async () => {
    const named = 'holdfast_outgoing_deliver';
    const receiver = await startReceiver({ now: () => new Date(acme.clock.now()) });
    const { id } = await addWebhook(acme, receiver.url);
    const before = await scrape();
    receiver.next(fails);
    await acme.freeze(await acme.repository('told', [{}]));
    await later(11);
    const after = await scrape();
    const rise = (name: string) => after.get(named + name)! - (before.get(named + name) ?? 0);
    expect(rise('ies_total{outcome="retried"}')).toBe(1);
    expect(rise('ies_total{outcome="delivered"}')).toBe(1);
    expect(rise('ies_total{outcome="failed"}')).toBe(0);
    expect(rise('y_delay_seconds_count')).toBe(1);
    expect(after.get(`${named}ies_due`)).toBe(0);
    const { db } = acme.app.deps;
    const due = { state: 'waiting', nextAttemptAt: new Date(acme.clock.now() - 60_000) };
    await db.outgoingDelivery.updateMany({ where: { webhookId: id }, data: due });
    const late = samplesIn(await (await replicaWith({ metricsToken: token })(`Bearer ${token}`)).text());
    expect(late.get(`${named}ies_due`)).toBe(1);
    expect(late.get(`${named}ies_oldest_due_seconds`)).toBe(60);
    await db.outgoingWebhook.deleteMany();
    await receiver.close();
  });

  test('of statuses that GitHub does not take: how many wait and since when, also between two tries', async () => {
    const late = await acme.repository('late', [{}, {}, {}]);
    acme.github.faults.add({ kind: 'status', status: 503, match: { method: 'POST', path: /\/statuses\// } });
    await acme.freeze(late);
    for (let minutes = 0; minutes < 5; minutes++) await later(60);
    const samples = await scrape();
    expect(samples.get('holdfast_statuses_waiting')).toBe(3);
    expect(samples.get('holdfast_statuses_oldest_waiting_seconds')).toBeGreaterThanOrEqual(300);
    expect(samples.get('holdfast_status_writes_total{outcome="down"}')).toBeGreaterThanOrEqual(3);
    expect(samples.get('holdfast_github_requests_total{status="5xx"}')).toBeGreaterThanOrEqual(3);
    acme.github.faults.clear();
    await later(120);
    expect((await scrape()).get('holdfast_statuses_waiting')).toBe(0);
  });

  test('of an installation that is suspended: what nobody may write does not count as late', async () => {
    const { db } = acme.app.deps;
    const [row] = await db.headStatus.findMany({ take: 1 });
    const where = { repositoryId_sha: { repositoryId: row!.repositoryId, sha: row!.sha } };
    const waitingSince = new Date(acme.clock.now() - 3_600_000);
    await db.headStatus.update({ where, data: { isWaiting: true, waitingSince } });
    await db.installation.updateMany({ data: { suspendedAt: waitingSince } });
    const read = replicaWith({ metricsToken: token });
    const answer = samplesIn(await (await read(`Bearer ${token}`)).text());
    await db.headStatus.update({ where, data: { isWaiting: false, waitingSince: null } });
    await db.installation.updateMany({ data: { suspendedAt: null } });
    expect(answer.get('holdfast_statuses_waiting')).toBe(0);
  });

  test('of a repeat that waits on purpose: it is not late', async () => {
    const { db } = acme.app.deps;
    const [row] = await db.headStatus.findMany({ take: 1 });
    const where = { repositoryId_sha: { repositoryId: row!.repositoryId, sha: row!.sha } };
    const then = new Date(acme.clock.now() + 3_600_000);
    const waiting = { isWaiting: true, waitingSince: new Date(acme.clock.now()), notBefore: then };
    const read = async () =>
      samplesIn(await (await replicaWith({ metricsToken: token })(`Bearer ${token}`)).text()).get(
        'holdfast_statuses_waiting',
      );
    await db.headStatus.update({ where, data: { ...waiting, repeatAfter: then } });
    expect(await read()).toBe(0);
    await db.headStatus.update({ where, data: { ...waiting, repeatAfter: null } });
    expect(await read()).toBe(1);
    await db.headStatus.update({ where, data: { isWaiting: false, waitingSince: null } });
  });

  test('of jobs that fail: by their task', async () => {
    const failing = 'holdfast_jobs_failing{task="reconcile-pull-request"}';
    const failures = 'holdfast_job_failures_total{task="reconcile-pull-request"}';
    const before = await scrape();
    acme.github.goDown();
    acme.github.openPullRequest('acme/web', { author: 'bob' });
    await later(40);
    const during = await scrape();
    expect(during.get(failing)).toBe(1);
    expect(during.get(failures)! - before.get(failures)!).toBeGreaterThan(1);
    acme.github.comeBack();
    await later(70);
    expect((await scrape()).get(failing)).toBe(0);
  });

  test('of pull requests that GitHub would merge all the same', async () => {
    const { db } = acme.app.deps;
    const [one] = await db.openPullRequest.findMany({ where: { mergeStateDueAt: { not: null } }, take: 1 });
    const { repositoryId, number } = one!;
    const where = { repositoryId_number: { repositoryId, number } };
    await db.openPullRequest.update({ where, data: { leakingSince: new Date(acme.clock.now()) } });
    const read = replicaWith({ metricsToken: token });
    const samples = samplesIn(await (await read(`Bearer ${token}`)).text());
    expect(samples.get('holdfast_pull_requests_leaking')).toBe(1);
    await db.openPullRequest.update({ where, data: { leakingSince: null } });
  });
});

describe('labels', () => {
  const routesIn = (samples: Map<string, number>) =>
    new Set([...samples.keys()].flatMap((name) => /route="([^"]*)"/.exec(name)?.[1] ?? []));

  test('paths and events that somebody makes up add no series', async () => {
    const hostile = async (round: string) => {
      for (const path of [
        `/${round}`,
        `/${round}/`,
        `/v1/${round}`,
        `/v1/repos/acme/${round}/scheduled_freeze`,
        `/repos/${round}`,
        `/repos/${round}/`,
        `/help/${round}`,
        `/assets/${round}`,
        `/%22%7D%0Aholdfast_x 1`,
      ])
        for (const method of ['GET', 'DELETE', 'PROPFIND'])
          await fetch(acme.app.url + path, { method, redirect: 'manual' });
      await deliver(`made_up_by_${round}`);
    };
    await hostile('first');
    const before = [...(await scrape()).keys()];
    for (const round of ['second', 'third', 'fourth']) await hostile(round);
    const samples = await scrape();
    expect([...samples.keys()]).toEqual(before);
    expect(samples.get('holdfast_webhooks_received_total{event="other"}')).toBe(4);
    expect(routesIn(samples)).toContain('unmatched');
    for (const route of routesIn(samples)) expect(route).not.toMatch(/first|second|acme|\*/);
  });

  test('no label names a repository, a person or a commit', async () => {
    const { headSha } = acme.github.pullRequest('acme/web', 1);
    for (const name of (await scrape()).keys())
      for (const word of ['acme', 'bob', 'ada', headSha]) expect(name).not.toContain(word);
  });
});

describe('what they cost', () => {
  test.skipIf(!inject('postgresUrl'))('any number of scrapes in 10 s is one statement', async () => {
    const scrapes = () => statementsDuring(() => Promise.all(Array.from({ length: 20 }, scrape)));
    const first = async () => {
      await later(11);
      return scrapes();
    };
    expectAtMost(1, await fewestOf(first));
    expectAtMost(0, await fewestOf(scrapes));
  });

  test('a database that fails or does not answer leaves what the process knows', async () => {
    shortenPatience();
    const never = Promise.withResolvers<never>();
    let asked = 0;
    for (const answer of [() => Promise.reject(new Error('gone')), () => never.promise]) {
      const query = () => {
        asked++;
        return answer();
      };
      const sql = { ...acme.app.deps.sql, query } as Deps['sql'];
      const read = replicaWith({ metricsToken: token }, { sql });
      for (let round = 0; round < 2; round++) {
        const samples = samplesIn(await (await read(`Bearer ${token}`)).text());
        expect(samples.get('holdfast_scrape_database_up')).toBe(0);
        expect(samples.has('holdfast_statuses_waiting')).toBe(false);
        expect(samples.get('process_start_time_seconds')).toBeGreaterThan(0);
      }
    }
    expect(asked, 'a question under way, and one that failed, is not asked again at once').toBe(2);
  });
});
