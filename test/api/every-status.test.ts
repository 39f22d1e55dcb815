import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import type { Deps } from '../../src/deps.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { useUpIdentities } from '../support/used-up.ts';
import { acmeForAll } from './acme.ts';
import { contract, kindOf, nameOf, pathOf, type Terms } from './contract.ts';

// Every operation is brought to every status that the document has for it. That the bodies are as documented, and that
// nothing else is answered, is held by test/support/watch-answers.ts for this and for every other test.

const acme = acmeForAll();
let database: Deps['db'];
beforeAll(async () => {
  database = acme.app.deps.db;
});

type Route = Terms & { method: string; template: string };
type Change = {
  owner?: string;
  repository?: string;
  last?: string;
  as?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};

/** By route: the end of a path that exists, and that nothing changes. What is refused can share it. */
const kept = new Map<string, Promise<string>>();
async function keptLast(route: Route): Promise<string | undefined> {
  const name = `${route.method} ${route.template}`;
  if (route.last && !kept.has(name)) kept.set(name, route.last(acme, 'web'));
  return kept.get(name);
}

/** Sends the route's good request with the given changes. Returns the status. */
async function statusOf(route: Route, change: Change = {}): Promise<number> {
  const last = 'last' in change ? change.last : await route.last?.(acme, 'web');
  const { as = acme.keys[route.for === 'ci' ? 'ci' : 'admin'], body = route.body } = change;
  const { headers } = change;
  const sent = { as: as ?? undefined, body, headers: { 'Content-Type': 'application/json', ...headers } };
  return (await acme.ask(route.method.toUpperCase(), pathOf(route.template, { ...change, last }), sent))
    .status;
}

/** While this runs, the database fails: every query, or only the transactions. */
async function withFailing<Result>(
  what: 'queries' | 'transactions',
  error: Error,
  run: () => Promise<Result>,
): Promise<Result> {
  const fail = () => Promise.reject(error);
  const failing = new Proxy({}, { get: () => fail });
  acme.app.deps.db = new Proxy(database, {
    get(all, name) {
      if (name === '$transaction') return fail;
      if (what === 'transactions') return Reflect.get(all, name);
      return String(name).startsWith('$') ? fail : failing;
    },
  });
  try {
    return await run();
  } finally {
    acme.app.deps.db = database;
  }
}

/** The questions of strangers to GitHub are counted by the minute. */
const nextMinute = () => acme.clock.setTime(new Date(acme.clock.now() + 60_000));

const writeConflict = new Prisma.PrismaClientKnownRequestError('', { code: 'P2034', clientVersion: '' });
const databaseAway = new Prisma.PrismaClientInitializationError('', '');

const refusal = async (route: Route, change: Change = {}): Promise<number> =>
  statusOf(route, { last: await keptLast(route), ...change });

/** How a route is brought to each status. */
const ways: Record<string, (route: Route) => Promise<number>> = {
  200: (route) => statusOf(route),
  201: (route) => statusOf(route),
  202: (route) => statusOf(route),
  204: (route) => statusOf(route),
  304: (route) => statusOf(route, { headers: { 'If-None-Match': '*' } }),
  async 400(route) {
    const isPlan = route.template.includes('{plan_id}');
    if (route.template.includes('{start}')) {
      const times = { start: '2026-03-01T08:00:00', end: '2026-03-01T20:00:00', timezone: 'UTC' };
      const { id } = await acme.plan({ ...times, recurrence: { rule: 'FREQ=DAILY' } });
      const body = { start: '2026-03-01T12:00:00' };
      return statusOf(route, { last: `${id}/occurrences/${times.start}`, body });
    }
    const begun = { start: null, recurrence: null };
    const { id } = isPlan ? await acme.plan(begun) : await acme.freeze({ start: null });
    return statusOf(route, { last: id, body: { start: '2026-03-02T12:00:00' } });
  },
  403: (route) => refusal(route, { as: null }),
  404: (route) =>
    route.template.includes('{repository}')
      ? refusal(route, { repository: 'nowhere' })
      : refusal(route, { owner: 'nobody', as: acme.people.ada }),
  async 409(route) {
    const last = await keptLast(route);
    return withFailing('transactions', writeConflict, () => statusOf(route, { last }));
  },
  413: (route) => refusal(route, { body: 'x'.repeat(1024 * 1024 + 1) }),
  422: (route) => refusal(route, { owner: 'a_b' }),
  async 429(route) {
    await nextMinute();
    await useUpIdentities(acme);
    try {
      return await refusal(route, { as: `ghp_${crypto.randomUUID().replaceAll('-', '')}` });
    } finally {
      await nextMinute();
    }
  },
  async 500(route) {
    const last = await keptLast(route);
    return withFailing('queries', new Error('something unforeseen'), () => statusOf(route, { last }));
  },
  async 503(route) {
    const last = await keptLast(route);
    return withFailing('queries', databaseAway, () => statusOf(route, { last }));
  },
};

type Paths = Record<string, Record<string, { responses: object }>>;
const { paths } = openApiDocument('https://holdfast.example') as { paths: Paths };
const operations = Object.entries(paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { responses }]) => ({
    ...contract[`${method} ${template}`]!,
    method,
    template,
    statuses: Object.keys(responses),
  })),
);

/** What is answered before a handler runs, or in its place: one route of a kind answers for all. */
const beforeHandlers = ['403', '413', '429', '500', '503'];
const kinds = new Map(
  endpoints.map((each) => [nameOf(each), `${kindOf(each)} ${each.body ? 'with' : 'without'} a body`]),
);
const first = new Map([...kinds].reverse().map(([route, kind]) => [kind, route]));

describe.each(operations)('$method $template', (route) => {
  const name = `${route.method} ${route.template}`;
  const isOfRepository = route.template.includes('{repository}');
  const own = route.statuses.filter((status) =>
    beforeHandlers.includes(status)
      ? first.get(kinds.get(name)!) === name
      : status !== '409' || !isOfRepository,
  );
  test.each(own)('answers %s', async (status) => {
    expect(await ways[status]!(route)).toBe(Number(status));
  });
});

describe('while the App is suspended', () => {
  /** Holdfast does not know it yet. */
  const name = 'quiet';
  beforeAll(async () => {
    acme.github.webhookFaults.add({ kind: 'drop', event: 'repository' });
    acme.github.addRepository(`acme/${name}`);
    acme.github.suspend('acme');
    await acme.quiet();
  });
  afterAll(async () => {
    acme.github.webhookFaults.clear();
    acme.github.unsuspend('acme');
    await acme.quiet();
  });
  const refusing = operations.filter(
    ({ template, statuses }) => template.includes('{repository}') && statuses.includes('409'),
  );
  test.each(refusing)('$method $template answers 409', async (route) => {
    expect(await statusOf(route, { repository: name, last: crypto.randomUUID() })).toBe(409);
  });
});

/** Of the path of OpenAPI's form; one that has GET has HEAD too. */
const methodsOf = (template: string): string[] => {
  const methods = Object.keys(paths[template]!).map((method) => method.toUpperCase());
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort();
};
const every = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe.each(Object.keys(paths))('%s', (template) => {
  // `preview` is not a UUID, but it is in the place of an id.
  const named = Object.keys(paths).find(
    (other) => /_id\}$/.test(other) && other.replace(/\{\w+\}$/, 'preview') === template,
  );
  const elsewhere = named ? methodsOf(named) : [];
  const wrong = every.filter((method) => ![...methodsOf(template), ...elsewhere].includes(method));

  test.each(wrong)('answers 405 to %s for every caller, and says which methods it takes', async (method) => {
    for (const as of [undefined, acme.keys.admin]) {
      const path = pathOf(template, { last: crypto.randomUUID() });
      const answer = await acme.ask(method, path, { as });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')?.split(', ')).toEqual(methodsOf(template));
      const detail = `This path does not take ${method}. It takes ${methodsOf(template).join(', ')}.`;
      expect(answer.text).toBe(method === 'HEAD' ? '' : JSON.stringify({ detail }));
    }
  });
});

test('the tests read the document that the service serves', async () => {
  const { body } = await acme.ask('GET', '/v1/openapi.json');
  expect(body).toEqual(openApiDocument('https://holdfast.example'));
});
