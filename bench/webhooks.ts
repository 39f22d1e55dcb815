// From a webhook to the status that it leads to, at a steady stream of events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { type Aim, compare, within } from './figure.ts';
import { makeKey, startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const repository = 'acme/web';
/** The floor's p99 where the budgets were set, in ms. */
const usual = 8.12;
/** Events a second, and how far behind the floor the slowest of 100 may be. */
const rates: Record<string, { perSecond: number; limits: Aim[] }> = {
  floor: { perSecond: 50, limits: [] },
  PostgreSQL: { perSecond: 50, limits: [within(100, usual), within(50, usual)] },
  embedded: { perSecond: 20, limits: [within(500, usual)] },
};
/** Seconds of events that are not counted: code that ran seldom is not compiled yet. */
const warmUp = 5;
/** Milliseconds that a status may be behind the last event; one that is not there then counts as if it came then. */
const patience = 20_000;

/** A GitHub of its own for each that is measured, so that no webhook goes to two. */
type Site = { github: Sandbox; latencies: number[]; late: number; stop(): Promise<void> };

async function floorSite(): Promise<Site> {
  const { github, token } = await startGitHub();
  github.addRepository(repository);
  github.install('acme');
  const environment = { GITHUB: github.url, TOKEN: token, WEBHOOK_SECRET: github.app.webhookSecret };
  const floor = await startProgram('floors/statuses.ts', environment);
  const { url } = await floor.ask<{ url: string }>({ do: 'where' });
  github.deliverTo(url);
  return { github, latencies: [], late: 0, stop: () => floor.stop().then(() => github.close()) };
}

/** With an ongoing freeze: each new pull request needs a status that holds it. */
async function serviceSite(where: Where): Promise<Site> {
  const { github, token } = await startGitHub();
  // As set up: GitHub refuses what is held. Otherwise Holdfast records each pull request as one that it would merge.
  github.addRepository(repository, { protect: { main: ['holdfast/freeze'] } });
  github.openPullRequest(repository, { author: 'ada' });
  const service = await startService(github, where);
  github.install('acme');
  await github.waitForStatus(repository, 1, 'success', { timeoutMs: 60_000 });
  const key = await makeKey(service, token, 'admin');
  const freeze = { reason: 'Release', start: null, timezone: 'UTC' };
  await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, key, freeze);
  await github.waitForStatus(repository, 1, 'pending', { timeoutMs: 60_000 });
  return { github, latencies: [], late: 0, stop: () => service.stop().then(() => github.close()) };
}

/** Opens pull requests, each of which sends its webhook at once, and times the status of each head. */
async function openFor(seconds: number, perSecond: number, { github, latencies }: Site): Promise<number> {
  const opened = new Map<string, number>();
  const stopListening = github.onStatus(({ sha }) => {
    const at = opened.get(sha);
    if (at !== undefined) latencies.push(performance.now() - at);
    opened.delete(sha);
  });
  const began = performance.now();
  for (let index = 0; index < seconds * perSecond; index++) {
    await sleep(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
    const at = performance.now();
    opened.set(github.openPullRequest(repository, { author: 'ada' }).headSha, at);
  }
  const deadline = performance.now() + patience;
  while (opened.size > 0 && performance.now() < deadline) await sleep(50);
  stopListening();
  for (const at of opened.values()) latencies.push(performance.now() - at);
  return opened.size;
}

export const benchWebhooks: Bench = {
  name: 'webhooks',
  title: 'From webhook to status',
  async run({ isQuick, postgres }) {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-webhooks-'));
    const seconds = isQuick ? 3 : 20;
    const rounds = isQuick ? 1 : 3;
    const sites = new Map<string, Site>();
    try {
      sites.set('floor', await floorSite());
      if (postgres) {
        const connectionString = await postgres.createDatabase('webhooks');
        sites.set('PostgreSQL', await serviceSite({ connectionString }));
      }
      sites.set('embedded', await serviceSite({ dataDir: join(folder, 'data') }));
      for (const [name, site] of sites) {
        await openFor(isQuick ? 1 : warmUp, rates[name]!.perSecond, site);
        site.latencies.length = 0;
      }
      for (let round = 0; round < rounds; round++)
        for (const [name, site] of sites)
          if (name !== 'embedded' || round === 0)
            site.late += await openFor(seconds, rates[name]!.perSecond, site);
    } finally {
      for (const site of sites.values()) await site.stop();
      rmSync(folder, { recursive: true });
    }
    const { latencies: floor } = sites.get('floor')!;
    sites.delete('floor');
    const figures = [...sites].flatMap(([name, { latencies }]) => [
      compare('webhooks', `${name}: p50`, 'ms', percentile(latencies, 0.5), percentile(floor, 0.5)),
      compare(
        'webhooks',
        `${name}: p99`,
        'ms',
        percentile(latencies, 0.99),
        percentile(floor, 0.99),
        ...rates[name]!.limits,
      ),
    ]);
    const missing = [...sites].map(
      ([name, { late, latencies }]) =>
        `${name}: ${late} of ${latencies.length} statuses were not there ${patience / 1000} s after the last event, and count as if they came then.`,
    );
    const notes = [
      `${rates['PostgreSQL']!.perSecond} pull requests a second are opened (embedded: ${rates['embedded']!.perSecond}) for ${rounds} × ${seconds} s (embedded: once), in turns, after ${warmUp} s to warm up; a freeze holds them all, and the branch requires the status. Measured from the sending of the webhook to the arrival of the status.`,
      'The floor checks the signature and posts the status at once. Holdfast saves the delivery and a job, reads the pull request from GitHub, judges it, saves the verdict and then posts.',
      ...missing,
    ];
    return { figures, notes };
  },
};
