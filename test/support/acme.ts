// The stories' world: the organization acme, its admin key, and verbs that read like the stories.
import { expect } from 'vitest';
import type { Config } from '../../src/config.ts';
import type { Sandbox } from '../../sandbox/github.ts';
import { forAll } from './for-all.ts';
import { type Answer, type Holdfast, startHoldfast } from './holdfast.ts';

type RepositoryOptions = Parameters<Sandbox['addRepository']>[1];
type NewPullRequest = Partial<Parameters<Sandbox['openPullRequest']>[1]>;
type Shown = { state: string; description: string } | null;

export type Freeze = { id: string; start: string; end: string | null };

export type Acme = Holdfast & {
  /** An application key that may do everything in acme. */
  admin: string;
  /** A new repository of acme, its `main` protected, with these pull requests; when its first statuses stand. */
  repository(name: string, pullRequests?: NewPullRequest[], options?: RepositoryOptions): Promise<string>;
  /** Freezes a repository from now on without end, except for what is said otherwise. */
  freeze(repository: string, more?: object): Promise<Freeze>;
  update(repository: string, id: string, change: object): Promise<Freeze>;
  remove(repository: string, id: string): Promise<void>;
  setProducts(repository: string, products: string[]): Promise<Answer>;
  /** The events of a type in the audit log of a repository, the newest first. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into events of every type
  events(repository: string, type: string): Promise<any[]>;
  /** Numbers of the open pull requests whose status is pending; fails where one has no status at all. */
  frozen(repository: string): number[];
  /** State and text of a pull request's status. */
  shown(repository: string, number: number): Shown;
  /** How many statuses of ours each open pull request's head has had. */
  posts(repository: string): Record<number, number>;
  /** How many statuses the App has posted in all. */
  postsInAll(): number;
};

/** @property lock whether there is a second App, and acme installed it. */
type Parts = { lock?: boolean };

/** The world of a file, from its first hook to its last. @param config as for `startHoldfast`. */
export const acmeForAll = (config?: Partial<Config>, parts?: Parts): Acme =>
  forAll(() => startAcme(config, parts));

/** @param config as for `startHoldfast`. */
export async function startAcme(config: Partial<Config> = {}, parts: Parts = {}): Promise<Acme> {
  const holdfast = await startHoldfast(
    (github) => {
      for (const login of ['ada', 'bob']) github.addUser(login);
      github.addOrganization('acme', { admins: ['ada'], members: ['bob'] });
      github.install('acme');
      if (parts.lock) github.install('acme', { second: true });
    },
    config,
    parts,
  );
  const { github, call, quiet } = holdfast;
  const admin = await holdfast.key('acme', 'admin');
  const freezes = (repository: string) => `/v1/repos/${repository}/scheduled_freeze`;
  const open = (repository: string) =>
    github.pullRequests(repository).filter((pullRequest) => pullRequest.state === 'open');
  let postsInAll = 0;
  github.onStatus(() => void postsInAll++);

  const acme: Acme = {
    ...holdfast,
    admin,
    async repository(name, pullRequests = [], options = {}) {
      const protect = { main: ['holdfast/freeze'], release: ['holdfast/freeze'] };
      const { fullName } = github.addRepository(`acme/${name}`, { protect, ...options });
      for (const pullRequest of pullRequests)
        github.openPullRequest(fullName, { author: 'ada', ...pullRequest });
      await quiet();
      return fullName;
    },
    async freeze(repository, more = {}) {
      const body = { reason: 'Release', start: null, timezone: 'UTC', ...more };
      const answer = await call('POST', freezes(repository), { as: admin, body });
      expect(answer.status, answer.text).toBe(201);
      await quiet();
      return answer.body;
    },
    async update(repository, id, change) {
      const answer = await call('PATCH', `${freezes(repository)}/${id}`, { as: admin, body: change });
      expect(answer.status, answer.text).toBe(200);
      await quiet();
      return answer.body;
    },
    async remove(repository, id) {
      const body = { delete_reason: 'Done' };
      const answer = await call('POST', `${freezes(repository)}/${id}/delete`, { as: admin, body });
      expect(answer.status, answer.text).toBe(204);
      await quiet();
    },
    async setProducts(repository, products) {
      const answer = await call('PUT', `/v1/products/${repository}`, { as: admin, body: { products } });
      await quiet();
      return answer;
    },
    async events(repository, type) {
      const path = `/v1/repos/${repository}/logs?event_type=${type}&per_page=100`;
      const answer = await call('GET', path, { as: admin });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.events;
    },
    frozen(repository) {
      return open(repository)
        .map(({ number }) => number)
        .filter((number) => {
          const status = github.currentStatus(repository, number);
          if (!status) throw new Error(`${repository}#${number} has no status`);
          return status.state === 'pending';
        });
    },
    shown(repository, number) {
      const status = github.currentStatus(repository, number);
      return status && { state: status.state, description: status.description ?? '' };
    },
    posts: (repository) =>
      Object.fromEntries(
        open(repository).map(({ number, headSha }) => [
          number,
          github.statusHistory(repository, headSha, 'holdfast/freeze').length,
        ]),
      ),
    postsInAll: () => postsInAll,
  };
  return acme;
}

export const free = { state: 'success', description: 'No freeze holds this pull request.' };
export const heldUntilRemoved = { state: 'pending', description: 'Frozen until removed: Release' };
