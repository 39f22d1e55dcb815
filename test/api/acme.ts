// The world of the interface's tests: one Holdfast, two owners, a person of every rank, and a key of every kind.
import { expect } from 'vitest';
import { forAll } from '../support/for-all.ts';
import { type Answer, type Holdfast, startHoldfast } from '../support/holdfast.ts';
import { watchWrites } from '../support/writes.ts';

export type Sent = { as?: string; body?: unknown; headers?: Record<string, string> };

export type Acme = Holdfast & {
  /** Ada administers the organization, Rita its repositories; Wes writes, Rea reads, Mel is only a member. */
  people: Record<'ada' | 'rita' | 'wes' | 'rea' | 'mel' | 'eve', string>;
  /** Every real kind of token of Ada. */
  adaTokens: Record<'classic' | 'fineGrained' | 'oauth' | 'userToServer', string>;
  keys: Record<'admin' | 'ci' | 'foreignAdmin' | 'foreignCi', string>;
  /** From now on watches what is written, to be called again for it. */
  watchWrites: () => ReturnType<typeof watchWrites>;
  /** A freeze plan of acme that exists. */
  plan(more?: object): Promise<{ id: string } & Record<string, unknown>>;
  /** A freeze of `acme/web` that exists. */
  freeze(more?: object, repository?: string): Promise<{ id: string } & Record<string, unknown>>;
  /** Calls the service without a look at the manners of its answer. */
  ask: Holdfast['call'];
  /** The id of an outgoing webhook of acme that exists. */
  webhook(): Promise<string>;
};

export const webhookBody = { kind: 'standard', url: 'https://ops.example/hook' };

export const freezeBody = {
  reason: 'Release',
  start: '2026-03-02T10:00:00',
  end: '2026-03-03T10:00:00',
  timezone: 'Europe/Paris',
  matching_conditions: ['label=risky'],
};

export const planBody = {
  name: 'Year end',
  reason: 'Books are closed',
  repositories: { include: ['*'] },
  start: '2026-12-24T18:00:00',
  end: '2027-01-02T08:00:00',
  timezone: 'Europe/Paris',
  recurrence: { rule: 'FREQ=YEARLY' },
};

/** The world of a file, from its first hook to its last. */
export const acmeForAll = (): Acme => forAll(startAcme);

/** `acme/web` is public and has pull request 1, `acme/vault` is private, `acme/attic` archived. */
export async function startAcme(): Promise<Acme> {
  const people = {} as Acme['people'];
  const adaTokens = {} as Acme['adaTokens'];
  const holdfast = await startHoldfast((github) => {
    const ada = github.addUser('ada');
    people.ada = ada.token;
    Object.assign(adaTokens, {
      classic: ada.token,
      fineGrained: ada.fineGrainedToken,
      oauth: ada.oauthToken,
      userToServer: ada.userToServerToken,
    });
    for (const name of ['rita', 'wes', 'rea', 'mel', 'eve'] as const)
      people[name] = github.addUser(name).token;
    github.addUser('gil');
    github.addOrganization('acme', { admins: ['ada'], members: ['mel'] });
    github.addOrganization('globex', { admins: ['gil'] });
    const roles = { rita: 'admin', wes: 'write', rea: 'read' } as const;
    const protect = { main: ['holdfast/freeze'] };
    github.addRepository('acme/web', { roles, protect });
    github.addRepository('acme/vault', { private: true, roles, protect });
    github.addRepository('acme/attic', { archived: true });
    github.addRepository('globex/site');
    github.install('acme');
    github.install('globex');
    github.openPullRequest('acme/web', { author: 'ada', labels: ['risky'] });
    github.openPullRequest('acme/vault', { author: 'ada', labels: ['risky'] });
  });
  const call = mannered(holdfast.call);
  const acme: Acme = {
    ...holdfast,
    ask: holdfast.call,
    call,
    people,
    adaTokens,
    keys: {
      admin: await holdfast.key('acme', 'admin'),
      ci: await holdfast.key('acme', 'ci'),
      foreignAdmin: await holdfast.key('globex', 'admin'),
      foreignCi: await holdfast.key('globex', 'ci'),
    },
    watchWrites: () => watchWrites(holdfast),
    async plan(more = {}) {
      const body = { ...planBody, ...more };
      const answer = await call('POST', '/v1/freeze_plans/acme', { as: acme.keys.admin, body });
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
    async webhook() {
      const answer = await call('POST', '/v1/webhooks/acme', { as: acme.keys.admin, body: webhookBody });
      expect(answer.status, answer.text).toBe(201);
      return answer.body.id;
    },
    async freeze(more = {}, repository = 'acme/web') {
      const answer = await call('POST', `/v1/repos/${repository}/scheduled_freeze`, {
        as: acme.keys.admin,
        body: { ...freezeBody, ...more },
      });
      expect(answer.status, answer.text).toBe(201);
      return answer.body;
    },
  };
  return acme;
}

/** Looks at the manners of every answer. */
function mannered(call: Holdfast['call']): Holdfast['call'] {
  return async (method, path, more) => {
    const answer = await call(method, path, more);
    assertManners(answer, `${method} ${path.slice(0, 120)}`);
    return answer;
  };
}

/** Checks for every answer. */
export function assertManners({ status, body, headers, text }: Answer, what: string): void {
  expect(status, `${what}: ${text}`).not.toBe(500);
  if (status < 400) return;
  const { detail } = body;
  if (status !== 422) expect(detail, what).toBeTypeOf('string');
  if (Array.isArray(detail)) {
    expect(detail.length, what).toBeGreaterThan(0);
    for (const problem of detail) {
      expect(Object.keys(problem).sort(), what).toEqual(['loc', 'msg', 'type']);
      expect(['path', 'query', 'header', 'body'], what).toContain(problem.loc[0]);
      expect(problem.msg.length, what).toBeGreaterThan(5);
    }
  }
  if (status === 503) expect(Number(headers.get('retry-after')), what).toBeGreaterThan(0);
  else expect(headers.get('retry-after'), what).toBeNull();
  for (const name of headers.keys()) expect(name, what).not.toMatch(/^x-ratelimit/);
}
