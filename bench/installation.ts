// Whether the API answers while a large installation is read for the first time.
import type { Bench } from './bench.ts';
import { startProgram } from './child-process.ts';
import { alone, upTo } from './figure.ts';
import type { Load, Loaded } from './load.ts';
import { makeKey, startGitHub, startService } from './service.ts';

/** Milliseconds that the reading may take. */
const patience = 600_000;

export const benchInstallation: Bench = {
  name: 'installation',
  title: 'The API while an installation is read',
  async run({ isQuick, postgres }) {
    if (!postgres) return { figures: [], notes: ['No PostgreSQL is installed: skipped.'] };
    const count = isQuick ? 50 : 1500;
    const { github, token } = await startGitHub();
    github.addRepository('acme/web');
    github.openPullRequest('acme/web', { author: 'ada' });
    github.addOrganization('large', { admins: ['ada'] });
    for (let index = 0; index < count; index++) {
      github.addRepository(`large/app-${index}`);
      github.openPullRequest(`large/app-${index}`, { author: 'ada' });
    }
    const load = await startProgram('load.ts');
    const service = await startService(github, {
      connectionString: await postgres.createDatabase('installation'),
    });
    const windows: Loaded[] = [];
    const failures: string[] = [];
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
      github.install('large');
      try {
        do windows.push(await list());
        while (written.size < count && performance.now() < deadline);
      } catch (error) {
        failures.push(`a request failed while the installation was read: ${String(error)}`);
      }
      stopListening();
      if (written.size < count && failures.length === 0)
        failures.push(`${count - written.size} repositories had no status after ${patience / 1000} s`);
    } finally {
      await service.stop();
      await load.stop();
      await github.close();
    }
    const worst = Math.max(...windows.map(({ p99 }) => p99));
    const notes = [
      `${count} repositories with an open pull request each, on PostgreSQL; 4 connections of autocannon ask for a list all the while. The worst p99 of ${windows.length} windows of 2 s; one failed request fails the run. GitHub's side works in the process of the benchmarks, on the same cores.`,
    ];
    const figures = [alone('installation', 'a list, p99', 'ms', worst, upTo(200), upTo(50))];
    return { figures, notes, failures };
  },
};
