import { beforeAll, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/application-key.ts';
import type { AnyEndpoint } from '../../src/api/endpoint.ts';
import { endpoints } from '../../src/api/endpoints.ts';
import { acmeForAll } from '../api/acme.ts';
import { type Audience, contract, kindOf, nameOf, pathOf, type Terms } from '../api/contract.ts';
import { thirdOf } from '../support/amounts.ts';
import type { Sandbox } from '../../sandbox/github.ts';

const acme = acmeForAll();
beforeAll(async () => {
  for (const [who, { more }] of Object.entries(limited))
    limitedTokens[who] = acme.github.addToken('ada', more);
  for (const [ref, may] of Object.entries(jobsMay)) {
    const body = { name: ref, refs: [ref], may };
    const made = await acme.call('POST', '/v1/oidc_rules/acme', { as: acme.keys.admin, body });
    expect(made.status, made.text).toBe(201);
  }
});

const characters = (count: number) => 'aB3'.repeat(count).slice(0, count);
const jwt = `eyJ${characters(40)}.eyJ${characters(300)}.${characters(90)}`;
const past = new Date('2026-03-01T08:59:59Z');

type Reach = { web?: 'in'; vault?: 'in' | 404; owner?: 'reads' | 'in' };

/** Tokens of Ada, who may do everything: what each may do here, and what it lacks elsewhere. */
const limited: Record<
  string,
  { more: Parameters<Sandbox['addToken']>[1]; reach: Reach; lacks: RegExp; lacksOfOwner?: RegExp }
> = {
  'a token without scopes': {
    more: { scopes: [] },
    reach: {},
    lacks: /lacks the scope repo, .*\/settings\/tokens/,
    lacksOfOwner: /lacks the scope (read|admin):org, .*\/settings\/tokens/,
  },
  'an oauth token with only read:user': {
    more: { kind: 'oauth', scopes: ['read:user'] },
    reach: {},
    lacks: /lacks the scope repo, .* gh auth refresh -s repo,/,
    lacksOfOwner: /lacks the scope (read|admin):org, .* gh auth refresh -s \1:org,/,
  },
  'a token with public_repo': {
    more: { scopes: ['public_repo', 'read:org'] },
    reach: { web: 'in', owner: 'reads' },
    lacks: /lacks the scope repo, which every repository that is not public needs/,
    lacksOfOwner: /lacks the scope admin:org, /,
  },
  "gh's own token": {
    more: { kind: 'oauth', scopes: ['gist', 'read:org', 'repo', 'workflow'] },
    reach: { web: 'in', vault: 'in', owner: 'reads' },
    lacks: /lacks the scope admin:org, .* gh auth refresh -s admin:org,/,
  },
  'a token with repo alone': {
    more: { scopes: ['repo'] },
    reach: { web: 'in', vault: 'in' },
    lacks: /lacks the scope (read|admin):org, /,
  },
  'a token with write:org alone': {
    more: { scopes: ['write:org'] },
    reach: { owner: 'reads' },
    lacks: /lacks the scope (repo|admin:org), /,
  },
  'a fine-grained token without Administration': {
    more: { kind: 'fine-grained', administration: false },
    reach: {},
    lacks: /lacks the permission Administration \(read\) of acme.*\/settings\/personal-access-tokens/,
  },
  'a fine-grained token for one repository': {
    more: { kind: 'fine-grained', repositories: ['acme/web'] },
    reach: { web: 'in', vault: 404, owner: 'in' },
    lacks: /no repository acme\/vault/,
  },
  'a ghu_ of another App without Administration': {
    more: { kind: 'user-to-server', administration: false },
    reach: {},
    lacks: /lacks the permission Administration \(read\) of acme.* The App that it was given to/,
  },
  'a ghu_ of our own App': {
    more: { kind: 'user-to-server', ownApp: true },
    reach: {},
    lacks: /comes from signing in to Holdfast/,
  },
};
const limitedTokens: Record<string, string> = {};

/** What a private repository answers to those of Ada's tokens that can read it, or another one alone. */
const readsVault: Record<string, 'in' | 404> = {
  "gh's own token": 'in',
  'a token with repo alone': 'in',
  'a fine-grained token without Administration': 'in',
  'a fine-grained token for one repository': 404,
  'a ghu_ of another App without Administration': 'in',
};

/** What the rules of acme allow jobs, by their refs. */
const jobsMay = {
  'refs/heads/main': ['push_scopes'],
  'refs/heads/release': ['push_scopes', 'freeze'],
};

const job = (ref: string, more: object = {}, repository = 'acme/web') =>
  `Bearer ${acme.github.jobToken(repository, { audience: 'https://holdfast.example', ref, ...more })}`;

/** Jobs of acme/web that a rule lets in. */
const jobs: Record<string, () => string> = {
  'a job that may push scopes': () => job('refs/heads/main'),
  'a job that may freeze': () => job('refs/heads/release'),
};

/** The caller, as an `Authorization` header. */
const callers: Record<string, () => string | Promise<string>> = {
  nobody: () => '',
  'basic authentication': () => `Basic ${Buffer.from(`x:${acme.keys.admin}`).toString('base64')}`,
  'a scheme without credential': () => 'Bearer',
  'a scheme and spaces': () => 'Bearer    ',
  'a credential without scheme': () => acme.keys.admin,
  'two credentials': () => `Bearer ${acme.keys.admin} ${acme.keys.admin}`,
  'scheme token': () => `token ${acme.people.ada}`,
  garbage: () => 'Bearer !"$%&/()=?',
  'a credential in quotes': () => `Bearer "${acme.keys.admin}"`,
  'unknown ghp_': () => `Bearer ghp_${characters(36)}`,
  'unknown github_pat_': () => `Bearer github_pat_${characters(82)}`,
  'unknown gho_': () => `Bearer gho_${characters(36)}`,
  'unknown ghu_': () => `Bearer ghu_${characters(36)}`,
  'unknown long ghu_': () => `Bearer ghu_${jwt}`,
  'only a prefix': () => 'Bearer ghp_',
  ghs_: () => `Bearer ghs_${characters(36)}`,
  'a long ghs_': () => `Bearer ghs_${jwt}`,
  'a ghr_': () => `Bearer ghr_${characters(76)}`,
  'a JWT': () => `Bearer ${jwt}`,
  'an old kind of token': () => `Bearer ${'0123456789abcdef'.repeat(3).slice(0, 40)}`,
  'a revoked key': async () => `Bearer ${await acme.key('acme', 'admin', { revokedAt: past })}`,
  'a revoked ci key': async () => `Bearer ${await acme.key('acme', 'ci', { revokedAt: past })}`,
  'an expired key': async () => `Bearer ${await acme.key('acme', 'admin', { expiresAt: past })}`,
  'an expired ci key': async () => `Bearer ${await acme.key('acme', 'ci', { expiresAt: past })}`,
  'a key that expires now': async () =>
    `Bearer ${await acme.key('acme', 'admin', { expiresAt: new Date(acme.clock.now()) })}`,
  'a mistyped key': () => `Bearer ${acme.keys.admin.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))}`,
  'a key in capitals': () => `Bearer ${acme.keys.admin.toUpperCase()}`,
  'a ci key called admin': () => `Bearer ${acme.keys.ci.replace('_ci_', '_admin_')}`,
  'a key nobody made': () => `Bearer ${generateKey('admin')}`,
  'a ci key nobody made': () => `Bearer ${generateKey('ci')}`,
  'an outsider': () => `Bearer ${acme.people.eve}`,
  'a reader': () => `Bearer ${acme.people.rea}`,
  'a writer': () => `Bearer ${acme.people.wes}`,
  'a member': () => `Bearer ${acme.people.mel}`,
  'a repository admin': () => `Bearer ${acme.people.rita}`,
  'an owner admin': () => `Bearer ${acme.adaTokens.classic}`,
  'an owner admin, fine-grained': () => `Bearer ${acme.adaTokens.fineGrained}`,
  'an owner admin, oauth': () => `Bearer ${acme.adaTokens.oauth}`,
  'an owner admin, user-to-server': () => `Bearer ${acme.adaTokens.userToServer}`,
  'an owner admin, bearer in lower case': () => `bearer ${acme.adaTokens.classic}`,
  ...Object.fromEntries(Object.keys(limited).map((who) => [who, () => `Bearer ${limitedTokens[who]!}`])),
  'an admin key': () => `Bearer ${acme.keys.admin}`,
  'a ci key': () => `Bearer ${acme.keys.ci}`,
  ...jobs,
  'a job that no rule lets in': () => job('refs/heads/other'),
  'a job of another owner': () => job('refs/heads/main', {}, 'globex/site'),
  'an expired job': () => job('refs/heads/main', { claims: { exp: acme.clock.now() / 1000 - 60 } }),
  'a job of another audience': () => job('refs/heads/main', { audience: 'https://github.com/acme' }),
  'an admin key of another owner': () => `Bearer ${acme.keys.foreignAdmin}`,
  'a ci key of another owner': () => `Bearer ${acme.keys.foreignCi}`,
};

/** One of each step that can refuse. For every caller, they come before the body. */
const judgedFirst = new Set([
  'nobody',
  'a key nobody made',
  'a ci key',
  'an admin key',
  'an outsider',
  'a writer',
]);

const isPerson = (who: string) =>
  who in limited || /^an? (outsider|reader|writer|member|repository admin|owner admin)/.test(who);

/** A job acts in its own repository alone. */
function expectedOfJob({ for: audience, job }: Terms, who: string, repository: string): 'in' | 403 {
  const mayAsKey = audience === 'ci' || audience === 'repository readers';
  const may = mayAsKey || (job === 'freeze' && who === 'a job that may freeze');
  return may && repository === 'web' ? 'in' : 403;
}

/** What the design says about a caller, in the words of its table. */
function expected(terms: Terms, who: string, repository: string, method: string): 'in' | 403 | 404 {
  if (who in jobs) return expectedOfJob(terms, who, repository);
  const { for: audience } = terms;
  const reach = limited[who]?.reach;
  // For what writers may, it is enough that a token can see the repository.
  if (audience === 'repository writers') {
    if (who === 'a writer' || /without Administration$/.test(who)) return 'in';
    return expected({ for: 'repository admins', success: 200 }, who, repository, method);
  }
  if (reach && audience === 'repository admins') return reach[repository as 'web' | 'vault'] ?? 403;
  if (reach && audience === 'repository readers') {
    if (who === 'a ghu_ of our own App') return 403;
    return repository === 'web' ? 'in' : (readsVault[who] ?? 403);
  }
  if (reach && audience === 'owner admins')
    return reach.owner === 'in' || (reach.owner === 'reads' && method === 'get') ? 'in' : 403;
  switch (audience) {
    case 'ci':
      return who === 'a ci key' ? 'in' : 403;
    case 'any key':
      return [
        'an admin key',
        'a ci key',
        'an admin key of another owner',
        'a ci key of another owner',
      ].includes(who)
        ? 'in'
        : 403;
    case 'owner admins':
      return who === 'an admin key' || who.startsWith('an owner admin') ? 'in' : 403;
    case 'repository readers':
      if (['an admin key', 'a ci key'].includes(who)) return 'in';
      if (!isPerson(who)) return 403;
      return repository === 'vault' && ['an outsider', 'a member'].includes(who) ? 404 : 'in';
    case 'repository admins': {
      const isIn = ['an admin key', 'a repository admin'].includes(who) || who.startsWith('an owner admin');
      if (isIn) return 'in';
      // What a person cannot see does not exist for them.
      return repository === 'vault' && ['an outsider', 'a member'].includes(who) ? 404 : 403;
    }
  }
}

/** The text says which credential is wanted where a good one of another kind was sent; else it tells nothing. */
function expectedText(audience: Audience, who: string): RegExp {
  if (who in jobs)
    return audience === 'any key'
      ? /application keys/
      : /not the OIDC token of a job|^The OIDC rule refs\/heads\/main does not let jobs do this|jobs under its OIDC rule made|valid only for the repository of its job/;
  if (audience === 'any key') return isPerson(who) ? /application keys/ : /^Not authenticated: /;
  if (who.includes('key of another owner') && audience === 'repository readers') return /another owner/;
  if (who.includes('key of another owner')) {
    const isRightKind = who.startsWith(audience === 'ci' ? 'a ci' : 'an admin');
    return isRightKind ? /another owner/ : /takes an? (CI|admin) application key/;
  }
  if (who === 'an admin key') return /takes a CI application key \(hf_ci_…\)/;
  if (who === 'a ci key') return /takes an admin application key \(hf_admin_…\) or a GitHub token/;
  if (limited[who] && audience !== 'ci') {
    const { lacks, lacksOfOwner = lacks } = limited[who];
    return audience === 'owner admins' ? lacksOfOwner : lacks;
  }
  if (isPerson(who))
    return {
      ci: /takes a CI application key.* not a GitHub token/,
      'repository writers': /cannot write to acme/,
      'repository readers': /cannot read/,
      'repository admins': /not an admin|cannot write to acme/,
      'owner admins': /not an admin/,
    }[audience];
  return /^Not authenticated: /;
}

/** Who a route declares that it is for, in the words of the contract. */
function declared({ access }: AnyEndpoint): Pick<Terms, 'for' | 'job'> {
  if (access.to === 'own-key') return { for: 'any key' };
  if (access.to === 'repository-readers') return { for: 'repository readers' };
  if (access.to !== 'repository') return { for: 'owner admins' };
  if (access.scope === 'ci') return { for: 'ci' };
  return { for: access.least ? 'repository writers' : 'repository admins', job: access.job };
}

test('the contract has a row for every route, and no other', () => {
  expect(Object.keys(contract).sort()).toEqual(endpoints.map(nameOf).toSorted());
});

test.each(endpoints.map((each) => [nameOf(each), each] as const))(
  '%s declares whom the contract allows',
  (name, each) => {
    const { for: audience, job, declares } = contract[name]!;
    const wanted = { for: audience, job, ...declares };
    expect(declared(each)).toEqual(wanted);
    // A job that may push scopes can do what a CI key can do.
    if (audience === 'ci') expect(each.access.job).toBe('push_scopes');
  },
);

/** A route of each kind, whose handler refuses nobody else. */
const routeOf = new Map(
  endpoints.filter((each) => !contract[nameOf(each)]!.declares).map((each) => [kindOf(each), nameOf(each)]),
);

const send = (route: string, path: string, authorization: string, body: unknown) =>
  acme.call(route.split(' ')[0]!.toUpperCase(), path, {
    body,
    headers: authorization === '' ? {} : { Authorization: authorization },
  });

describe.each([...routeOf])('%s (%s)', (kind, route) => {
  const row = contract[route]!;
  const [method, template] = route.split(' ') as [string, string];
  // What is hidden from whom is decided for these as for their plain kind.
  const isVariant = /isLive|job freeze/.test(kind);
  const others = Object.keys(callers).filter((who) => !judgedFirst.has(who));
  const tried = new Set([...judgedFirst, ...thirdOf(others, [...routeOf.keys()].indexOf(kind))]);
  const repositories = template.includes('{repository}') && !isVariant ? ['web', 'vault'] : ['web'];
  const fill = (repository: string, last: string) => pathOf(template, { repository, last });

  test.each(repositories)('accepts exactly the right callers (%s)', async (repository) => {
    const path = fill(repository, (await row.last?.(acme, repository)) ?? '');
    const headers = new Map<string, string>();
    for (const who of tried) headers.set(who, await callers[who]!());
    const written = await acme.watchWrites();
    for (const [who, authorization] of headers) {
      const wanted = expected(row, who, repository, method);
      if (wanted === 'in') continue;
      // A bad body as well: the credential is judged first.
      for (const body of row.body && judgedFirst.has(who) ? [row.body, '{'] : [row.body]) {
        const answer = await send(route, path, authorization, body);
        expect({ who, status: answer.status }).toEqual({ who, status: wanted });
        expect(Object.keys(answer.body), who).toEqual(['detail']);
        if (wanted === 403) expect(answer.body.detail, who).toMatch(expectedText(row.for, who));
        else expect(answer.body.detail, who).toMatch(/no repository acme\/vault/);
      }
    }
    expect(await written()).toEqual([]);
    for (const [who, authorization] of headers) {
      if (expected(row, who, repository, method) !== 'in') continue;
      // What is read stays for the next one.
      const isSame = !row.last || method === 'get';
      const target = isSame ? path : fill(repository, await row.last!(acme, repository));
      const answer = await send(route, target, authorization, row.body);
      expect({ who, status: answer.status }).toEqual({ who, status: row.success });
    }
  });

  test('while GitHub is down, a token is neither good nor bad: 503', async () => {
    const path = fill('web', crypto.randomUUID());
    const written = await acme.watchWrites();
    try {
      for (const how of ['502', 'reset'] as const) {
        acme.github.goDown(how);
        for (const prefix of ['ghp_', 'github_pat_', 'gho_', 'ghu_']) {
          const token = `Bearer ${prefix}${crypto.randomUUID().replaceAll('-', '')}`;
          const answer = await send(route, path, token, row.body);
          expect(answer.status).toBe(503);
          expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
          expect(answer.text).not.toContain(token.slice(12));
        }
        for (const bad of ['', 'Bearer ghs_x', `Bearer ${generateKey('admin')}`, 'Bearer x']) {
          expect((await send(route, path, bad, row.body)).status).toBe(403);
        }
      }
    } finally {
      acme.github.comeBack();
    }
    expect(await written()).toEqual([]);
  });
});

/** Somebody with a good credential that a route does not take. */
const wrongCaller: Record<Audience, string> = {
  ci: 'an admin key',
  'any key': 'an owner admin',
  'repository readers': 'a ci key of another owner',
  'repository writers': 'a ci key',
  'repository admins': 'a ci key',
  'owner admins': 'a repository admin',
};

test('every kind of access has a route', () => {
  expect([...routeOf.keys()].sort()).toEqual([...new Set(endpoints.map(kindOf))].sort());
});

test('every route refuses a caller of another kind, and nothing is changed', async () => {
  const paths = new Map<string, string>();
  for (const [route, { last }] of Object.entries(contract))
    paths.set(route, pathOf(route.split(' ')[1]!, { last: (await last?.(acme, 'web')) ?? '' }));
  const written = await acme.watchWrites();
  for (const [route, path] of paths) {
    const { for: audience, body } = contract[route]!;
    const who = wrongCaller[audience];
    const answer = await send(route, path, await callers[who]!(), body);
    expect({ route, status: answer.status }).toEqual({ route, status: 403 });
    expect(answer.body.detail, route).toMatch(expectedText(audience, who));
  }
  expect(await written()).toEqual([]);
});

test('no log line has a credential that was sent', () => {
  const all = acme.logs.join('');
  const { keys, people } = acme;
  for (const secret of [...[keys, people, limitedTokens].flatMap((each) => Object.values(each)), jwt]) {
    expect(all.includes(secret)).toBe(false);
  }
});
