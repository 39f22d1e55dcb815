// `holdfast prove` in this process, against a sandbox on a clock that waiting moves.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runCommand } from '../../src/cli/program.ts';
import type { World } from '../../src/cli/world.ts';
import { manifestOf } from '../../src/prove/make-apps.ts';
import type { proofAsJson } from '../../src/prove/report.ts';
import { type Sandbox, startSandbox } from '../../sandbox/github.ts';
import { appJwt } from '../sandbox/acme.ts';
import { collector } from '../support/collector.ts';
import { serveInside } from '../support/inside.ts';

export type Proof = ReturnType<typeof proofAsJson>;
export type Said = { code: number; out: string; err: string; proof: Proof; markdown: string };

export const organization = 'proving-ground';

export type ProvingGround = {
  github: Sandbox;
  /** The owner's token. */
  token: string;
  folder: string;
  /** The file of `--app`. */
  apps: string;
  /** Runs `holdfast prove` with these words. */
  prove(words?: string[], apiUrl?: string): Promise<Said>;
  /** The names of all repositories of the organization. */
  repositories(): Promise<string[]>;
  /** A token of the App's installation, or of the second App's. */
  installationToken(isSecond: boolean): Promise<string>;
  close(): Promise<void>;
};

/** An organization without repositories, its owner, and Apps that are installed there. */
export async function startProvingGround(): Promise<ProvingGround> {
  let now = Date.parse('2026-11-26T09:00:00Z');
  const { default_permissions: permissions, default_events: events } = manifestOf('', 'http://127.0.0.1');
  const github = await startSandbox({ now: () => new Date(now), app: { permissions, events } });
  // Many runs share an hour.
  github.rateLimits.core = Infinity;
  const leave = serveInside(github.url, github.fetch);
  github.addUser('olga');
  github.addOrganization(organization, { admins: ['olga'], plan: 'team' });
  github.install(organization);
  const second = github.addSecondApp();
  github.install(organization, { second: true });
  const scopes = ['repo', 'workflow', 'delete_repo', 'read:org'];
  const token = github.addToken('olga', { kind: 'classic', scopes });
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-prove-'));
  const apps = join(folder, 'apps.json');
  const kept = ({ id, slug, privateKey }: typeof second) => ({
    id,
    slug,
    html_url: `${github.url}/apps/${slug}`,
    private_key: privateKey,
  });
  writeFileSync(apps, JSON.stringify({ first: kept(github.app), second: kept(second) }));
  return {
    ...{ github, token, folder, apps },
    async prove(words = [], apiUrl = github.url) {
      const [out, err] = [collector(), collector()];
      const world: World = {
        env: { HOLDFAST_TOKEN: token, GITHUB_API_URL: apiUrl },
        input: Object.assign(Readable.from([]), { isTTY: false }),
        out: Object.assign(out.stream, { isTTY: false }),
        err: err.stream,
        now: () => now,
        async delay(milliseconds, signal) {
          signal?.throwIfAborted();
          // GitHub sends what it was told to send.
          await github.settled();
          now += milliseconds;
        },
        zone: 'UTC',
        platform: 'linux',
        home: folder,
        cwd: folder,
      };
      const given = words.some((word) => ['--clean', '--list'].includes(word)) ? [] : ['--app', apps];
      const args = ['prove', organization, ...given, ...words];
      const load = async () => (await import('../../src/prove/prove.ts')).prove;
      const code = await runCommand(args, world, { prove: load });
      const read = (name: string) => readFileSync(join(folder, name), 'utf8');
      const said = { code, out: out.text(), err: err.text() };
      return Object.assign(said, {
        get proof() {
          return JSON.parse(read('prove.json')) as Proof;
        },
        get markdown() {
          return read('prove.md');
        },
      });
    },
    async repositories() {
      const headers = { Authorization: `Bearer ${token}`, 'User-Agent': 'test' };
      const response = await fetch(`${github.url}/orgs/${organization}/repos?per_page=100`, { headers });
      return ((await response.json()) as { name: string }[]).map(({ name }) => name);
    },
    async installationToken(isSecond) {
      const jwt = isSecond ? appJwt(github, { iss: second.id }, second.privateKey) : appJwt(github);
      const headers = { Authorization: `Bearer ${jwt}`, 'User-Agent': 'test' };
      const found = await fetch(`${github.url}/orgs/${organization}/installation`, { headers });
      const { id } = (await found.json()) as { id: number };
      const path = `/app/installations/${id}/access_tokens`;
      const made = await fetch(github.url + path, { method: 'POST', headers, body: '{}' });
      return ((await made.json()) as { token: string }).token;
    },
    async close() {
      leave();
      await github.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The verdict of each step. */
export const verdictsOf = ({ steps }: Proof): Record<string, string> =>
  Object.fromEntries(steps.map(({ name, verdict }) => [name, verdict]));
