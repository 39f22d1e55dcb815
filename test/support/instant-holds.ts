// The verbs of stories about instant holds.
import { expect } from 'vitest';
import type { Acme } from './acme.ts';

export function instantHoldsOf(acme: Acme) {
  const { github, call, admin, quiet } = acme;
  const set = async (repository: string, instant_hold: string | null) => {
    const body = { instant_hold };
    const answer = await call('PATCH', `/v1/repos/${repository}/settings`, { as: admin, body });
    await quiet();
    return answer;
  };
  return {
    set,
    /** A repository whose freezes hold at once. */
    async held(
      name: string,
      mode: 'bridge' | 'lock',
      ...more: Parameters<Acme['repository']> extends [string, ...infer Rest] ? Rest : never
    ) {
      const repository = await acme.repository(name, ...more);
      const { status, text } = await set(repository, mode);
      expect(status, text).toBe(200);
      return repository;
    },
    /** What both answers of enforcement say. */
    instant: async (repository: string) =>
      (await call('GET', `/v1/repos/${repository}/enforcement`, { as: admin })).body.instant,
    /** The rulesets of a repository, as they are at GitHub. */
    rulesets: (repository: string) =>
      github.rulesetsOf(repository).map(({ id, enforcement, refs, checks }) => ({
        id,
        enforcement,
        include: refs.include.toSorted(),
        context: checks[0]?.context,
      })),
    /** The id of its first ruleset. */
    idOf: (repository: string) => github.rulesetsOf(repository)[0]!.id,
    events: acme.events,
    /** Lets time pass in steps, so that sweeps run. */
    async pass(seconds: number, step = 20) {
      for (let passed = 0; passed < seconds; passed += step)
        await acme.advanceTo(new Date(acme.clock.now() + step * 1000));
    },
    /** What GitHub was asked to do since a request, in order. */
    writesSince: (start: number) =>
      github.requests.slice(start).flatMap(({ method, path, status }) => {
        if (!path.startsWith('/repos/')) return [];
        const what = path.includes('/rulesets') ? 'ruleset' : path.includes('/statuses/') ? 'status' : null;
        return what && !(what === 'status' && method === 'GET') ? [`${method} ${what} ${status}`] : [];
      }),
    mergeable: (repository: string) =>
      Object.fromEntries(
        github
          .pullRequests(repository)
          .filter(({ state }) => state === 'open')
          .map(({ number }) => [number, github.mergeable(repository, number)]),
      ),
  };
}
