// From a webhook to the status that it leads to, at a steady 50 events a second.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { compare, within } from './figure.ts';
import { makeKey, startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const repository = 'acme/web';
const perSecond = 50;
/** So many that none is pushed to again before its status can stand. */
const pullRequests = 500;

/** A GitHub of its own for each that is measured, so that no webhook goes to two. */
type Site = { github: Sandbox; stop(): Promise<void> };

async function floorSite(): Promise<Site> {
  const { github, token } = await startGitHub();
  github.addRepository(repository);
  github.install('acme');
  const environment = { GITHUB: github.url, TOKEN: token, WEBHOOK_SECRET: github.app.webhookSecret };
  const floor = await startProgram('floors/statuses.ts', environment);
  const { url } = await floor.ask<{ url: string }>({ do: 'where' });
  for (let index = 0; index < pullRequests; index++) github.openPullRequest(repository, { author: 'ada' });
  github.deliverTo(url);
  return { github, stop: () => floor.stop().then(() => github.close()) };
}

async function serviceSite(where: Where): Promise<Site> {
  const { github, token } = await startGitHub();
  github.addRepository(repository);
  for (let index = 0; index < pullRequests; index++) github.openPullRequest(repository, { author: 'ada' });
  const service = await startService(github, where);
  github.install('acme');
  await github.waitForStatus(repository, pullRequests, 'success', { timeoutMs: 120_000 });
  const key = await makeKey(service, token, 'admin');
  const freeze = { reason: 'Release', start: null, timezone: 'UTC' };
  await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, key, freeze);
  for (let number = 1; number <= pullRequests; number++)
    await github.waitForStatus(repository, number, 'pending', { timeoutMs: 120_000 });
  return { github, stop: () => service.stop().then(() => github.close()) };
}

/** Milliseconds from each push, which sends its webhook at once, to the status of the new head. */
async function pushFor(seconds: number, { github }: Site): Promise<number[]> {
  const pushed = new Map<string, number>();
  const latencies: number[] = [];
  const stopListening = github.onStatus(({ sha }) => {
    const at = pushed.get(sha);
    if (at !== undefined) latencies.push(performance.now() - at);
    pushed.delete(sha);
  });
  const began = performance.now();
  for (let index = 0; index < seconds * perSecond; index++) {
    await sleep(Math.max(0, began + (index * 1000) / perSecond - performance.now()));
    const at = performance.now();
    pushed.set(github.push(repository, 1 + (index % pullRequests)), at);
  }
  const deadline = performance.now() + 60_000;
  while (pushed.size > 0 && performance.now() < deadline) await sleep(50);
  stopListening();
  // Those whose status never came count as the worst.
  return [...latencies, ...[...pushed].map(() => Infinity)];
}

export const benchWebhooks: Bench = {
  name: 'webhooks',
  title: 'From webhook to status',
  async run({ isQuick, postgres }) {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-webhooks-'));
    const seconds = isQuick ? 3 : 20;
    const rounds = isQuick ? 1 : 3;
    const sites = new Map<string, Site>();
    const latencies = new Map<string, number[]>();
    try {
      sites.set('floor', await floorSite());
      if (postgres) {
        const connectionString = await postgres.createDatabase('webhooks');
        sites.set('PostgreSQL', await serviceSite({ connectionString }));
      }
      sites.set('embedded', await serviceSite({ dataDir: join(folder, 'data') }));
      for (let round = 0; round < rounds; round++)
        for (const [name, site] of sites)
          latencies.set(name, [...(latencies.get(name) ?? []), ...(await pushFor(seconds, site))]);
    } finally {
      for (const site of sites.values()) await site.stop();
      rmSync(folder, { recursive: true });
    }
    const floor = latencies.get('floor')!;
    latencies.delete('floor');
    const figures = [...latencies].flatMap(([name, ours]) => [
      compare('webhooks', `${name}: p50`, 'ms', percentile(ours, 0.5), percentile(floor, 0.5)),
      compare('webhooks', `${name}: p99`, 'ms', percentile(ours, 0.99), percentile(floor, 0.99), within(100)),
    ]);
    const notes = [
      `${perSecond} pushes a second for ${rounds} × ${seconds} s, in turns, to ${pullRequests} pull requests that a freeze holds: each new head needs a status. Measured from the sending of the webhook to the arrival of the status.`,
      'The floor checks the signature and posts the status at once. Holdfast saves the delivery and a job, reads the pull request from GitHub, judges it, saves the verdict and then posts.',
    ];
    return { figures, notes };
  },
};
