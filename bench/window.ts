// How long a green pull request stays green that comes under a freeze: from the event to `pending`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/github.ts';
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { compare } from './figure.ts';
import { makeKey, startGitHub, startService, type Where } from './service.ts';
import { percentile } from './statistics.ts';

const repository = 'acme/web';
const branch = 'release';
/** Between two events, so that each is measured alone: nobody retargets many at once. Milliseconds. */
const pause = 100;
/** A status that is not there by then counts as if it came then. Milliseconds. */
const patience = 20_000;

type Site = { github: Sandbox; numbers: number[]; latencies: number[]; late: number; stop(): Promise<void> };

/** A GitHub of its own, with green pull requests into a branch that no freeze selects. */
async function startGreen(count: number) {
  const { github, token } = await startGitHub();
  github.addRepository(repository);
  const numbers = Array.from({ length: count }, () => {
    const { number } = github.openPullRequest(repository, { author: 'ada' });
    // As if the service had written it long ago.
    const given = { state: 'success', description: 'No freeze holds this pull request.' } as const;
    github.postStatus(repository, number, { by: 'ada', ...given });
    return number;
  });
  return { github, token, numbers };
}

async function floorSite(count: number): Promise<Site> {
  const { github, token, numbers } = await startGreen(count);
  github.install('acme');
  const environment = { GITHUB: github.url, TOKEN: token, WEBHOOK_SECRET: github.app.webhookSecret };
  const floor = await startProgram('floors/statuses.ts', environment);
  const { url } = await floor.ask<{ url: string }>({ do: 'where' });
  github.deliverTo(url);
  return { github, numbers, latencies: [], late: 0, stop: () => floor.stop().then(() => github.close()) };
}

/** With an ongoing freeze of the other branch, which holds one pull request when everything stands. */
async function serviceSite(where: Where, count: number): Promise<Site> {
  const { github, token, numbers } = await startGreen(count);
  const held = github.openPullRequest(repository, { author: 'ada', base: branch });
  const service = await startService(github, where);
  github.install('acme');
  await github.waitForStatus(repository, held.number, 'success', { timeoutMs: 60_000 });
  const key = await makeKey(service, token, 'admin');
  const freeze = {
    reason: 'Release',
    start: null,
    timezone: 'UTC',
    matching_conditions: [`base=${branch}`],
  };
  await service.call('POST', `/v1/repos/${repository}/scheduled_freeze`, key, freeze);
  await github.waitForStatus(repository, held.number, 'pending', { timeoutMs: 60_000 });
  return { github, numbers, latencies: [], late: 0, stop: () => service.stop().then(() => github.close()) };
}

/** Retargets one after another, each of which sends its webhook at once, and times the status of each. */
async function retargetAll(site: Site): Promise<void> {
  const { github, numbers, latencies } = site;
  for (const number of numbers) {
    const began = performance.now();
    github.retarget(repository, number, branch);
    await github
      .waitForStatus(repository, number, 'pending', { timeoutMs: patience })
      .catch(() => (site.late += 1));
    latencies.push(performance.now() - began);
    await sleep(pause);
  }
}

export const benchWindow: Bench = {
  name: 'window',
  title: 'From an event to a held pull request',
  async run({ isQuick, postgres }) {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-window-'));
    const count = isQuick ? 20 : 200;
    const sites = new Map<string, Site>();
    try {
      sites.set('floor', await floorSite(count));
      if (postgres) {
        const connectionString = await postgres.createDatabase('held_window');
        sites.set('PostgreSQL', await serviceSite({ connectionString }, count));
      }
      sites.set('embedded', await serviceSite({ dataDir: join(folder, 'data') }, count));
      for (const site of sites.values()) await retargetAll(site);
    } finally {
      for (const site of sites.values()) await site.stop();
      rmSync(folder, { recursive: true });
    }
    const { latencies: floor } = sites.get('floor')!;
    sites.delete('floor');
    const figures = [...sites].flatMap(([name, { latencies }]) =>
      [0.5, 0.99].map((share) =>
        compare(
          'window',
          `${name}: p${share * 100}`,
          'ms',
          percentile(latencies, share),
          percentile(floor, share),
        ),
      ),
    );
    const missing = [...sites]
      .filter(([, { late }]) => late > 0)
      .map(
        ([name, { late }]) =>
          `${name}: ${late} of ${count} statuses were not there ${patience / 1000} s later.`,
      );
    const notes = [
      `${count} green pull requests are retargeted into a frozen branch, one after another. Measured from the change at GitHub to the arrival of \`pending\`: so long GitHub would merge one. On the internet the delivery of the webhook, a read and a write at GitHub come on top.`,
      'The floor checks the signature and posts the status at once, without looking at anything.',
      ...missing,
    ];
    return { figures, notes };
  },
};
