// Whether the API answers while a large installation is read for the first time, and its pages when all of it is frozen.
import type { Bench } from './bench.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { administer } from '../test/support/postgres.ts';
import { startProgram } from './child-process.ts';
import { alone, type Figure, upTo } from './figure.ts';
import { largePages } from './large-pages.ts';
import type { Load, Loaded } from './load.ts';
import { makeKey, startGitHub, startService, signIn } from './service.ts';

/** Milliseconds that the reading may take. */
const patience = 600_000;

const everything = {
  name: 'Year end',
  reason: 'Books are closed',
  repositories: { include: ['*'] },
  start: null,
  end: null,
  timezone: 'UTC',
};

export const benchInstallation: Bench = {
  name: 'installation',
  title: 'The API while an installation is read',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const count = isQuick ? 50 : 2000;
    const { github, token, admin } = await startGitHub();
    github.addRepository('acme/web');
    github.openPullRequest('acme/web', { author: 'ada' });
    github.addOrganization('large', { admins: ['ada'] });
    for (let index = 0; index < count; index++) {
      github.addRepository(`large/app-${index}`, { protect: { main: ['holdfast/freeze'] } });
      github.openPullRequest(`large/app-${index}`, { author: 'ada' });
    }
    const load = await startProgram('load.ts');
    const connectionString = await postgres.createDatabase('installation');
    const service = await startService(github, { connectionString });
    const windows: Loaded[] = [];
    const failures: string[] = [];
    let pages: Figure[] = [];
    try {
      github.install('acme');
      const key = await makeKey(service, token, 'admin');
      const list = () =>
        load.ask<Loaded>({
          url: service.url,
          paths: ['/v1/repos/acme/web/scheduled_freeze'],
          method: 'GET',
          headers: { Authorization: `Bearer ${key}` },
          connections: 4,
          seconds: 2,
        } satisfies Load);
      await github.waitForStatus('acme/web', 1, 'success', { timeoutMs: 60_000 });
      const written = new Set<string>();
      const stopListening = github.onStatus(({ repository }) => written.add(repository));
      const deadline = performance.now() + patience;
      const installation = github.install('large');
      try {
        do windows.push(await list());
        while (written.size < count && performance.now() < deadline);
      } catch (error) {
        failures.push(`a request failed while the installation was read: ${String(error)}`);
      }
      stopListening();
      if (written.size < count && failures.length === 0)
        failures.push(`${count - written.size} repositories had no status after ${patience / 1000} s`);
      else {
        const held = new Set<string>();
        const stop = github.onStatus(({ repository, state }) => state === 'pending' && held.add(repository));
        await service.call('POST', '/v1/freeze_plans/large', token, everything);
        while (held.size < count && performance.now() < deadline) await sleep(100);
        stop();
        // PostgreSQL does this itself within a minute. Before it, it plans as for the empty tables.
        await administer(connectionString, 'ANALYZE');
        const Cookie = await signIn(connectionString, admin, [installation.id]);
        // The first load asks GitHub about each repository, behind the page.
        const isKnown = async () => {
          const page = await fetch(`${service.url}/repos/large`, { headers: { Cookie } });
          const text = await page.text();
          return page.ok && !/\d+ not (known to be enforced|judged yet)/.test(text);
        };
        while (!(await isKnown()) && performance.now() < deadline) await sleep(500);
        pages = await largePages(load, service.url, 'large', { Cookie, amount: isQuick ? 5 : 100 });
      }
    } finally {
      await service.stop();
      await load.stop();
      await github.close();
    }
    const worst = Math.max(...windows.map(({ p99 }) => p99));
    const notes = [
      `${count} repositories with an open pull request each, on PostgreSQL; 4 connections of autocannon ask for a list all the while. The worst p99 of ${windows.length} windows of 2 s; one failed request fails the run. GitHub's side works in the process of the benchmarks, on the same cores.`,
      'The pages are those of their owner, as an admin of it sees them, one load after another, after a plan froze all of them and PostgreSQL analyzed its tables. Bytes are as they are sent, with gzip.',
    ];
    const figures = [alone('installation', 'a list, p99', 'ms', worst, upTo(200), upTo(50)), ...pages];
    return { figures, notes, failures };
  },
};
