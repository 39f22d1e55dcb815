import { beforeAll, describe, expect, test } from 'vitest';
import { freezeBody, acmeForAll } from './acme.ts';
import type { Answer } from '../support/holdfast.ts';

const acme = acmeForAll();
let freeze: { id: string };
const path = '/v1/repos/acme/web/logs';

beforeAll(async () => {
  const { db } = acme.app.deps;
  freeze = await acme.freeze();
  const one = `/v1/repos/acme/web/scheduled_freeze/${freeze.id}`;
  await acme.call('PATCH', one, { as: acme.people.rita, body: { reason: 'Longer', end: null } });
  await acme.call('POST', `${one}/delete`, { as: acme.people.ada, body: { delete_reason: 'Shipped' } });
  for (const products of [['merge_queue'], ['merge_queue', 'merge_protections']])
    await acme.call('PUT', '/v1/products/acme/web', { as: acme.keys.admin, body: { products } });
  await acme.freeze({}, 'acme/vault');
  await acme.call('PUT', '/v1/default_products/acme', { as: acme.keys.admin, body: { products: [] } });
  // Events of kinds that the service does not write yet, to filter by.
  const { accountId, id: repositoryId } = await db.repository.findFirstOrThrow({ where: { nameKey: 'web' } });
  const rest = { accountId, repositoryId, repository: 'acme/web', type: 'product.enabled', metadata: {} };
  const receivedAt = new Date('2026-03-01T08:00:00Z');
  const numbers = ['7', '8', '9007199254740993'];
  await db.auditEvent.createMany({
    data: numbers.map((pullRequest, index) => ({
      ...rest,
      receivedAt,
      pullRequest,
      outcome: ['failure', 'pending', 'neutral'][index]!,
      trigger: 'clock',
      baseRef: 'main',
    })),
  });
  const old = new Date('2026-01-15T00:00:00Z');
  await db.auditEvent.create({ data: { ...rest, receivedAt: old, outcome: 'success', trigger: 'api' } });
});

const read = (query = '') => acme.call('GET', `${path}${query}`, { as: acme.keys.admin });
type Event = {
  id: number;
  received_at: string;
  type: string;
  outcome: string;
  trigger: string;
  pull_request: number | null;
  metadata: Answer['body'];
};
const events = async (query = '') => {
  const { status, text, body } = await read(`?per_page=100${query}`);
  expect(status, text).toBe(200);
  return body.events as Event[];
};

/** The links of an answer by their relation. */
function links(headers: Headers): Record<string, string> {
  const found = (headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries([...found].map(([, url, rel]) => [rel!, url!]));
}

test('every change is an event, newest first, in the envelope that clients read', async () => {
  const { body } = await read();
  expect(Object.keys(body).sort()).toEqual(['events', 'per_page', 'size']);
  expect([body.size, body.per_page]).toEqual([body.events.length, 10]);
  for (const event of body.events) {
    // Where a key acted, the person who created it comes in addition.
    const { on_behalf_of, ...known } = event;
    expect(Object.keys(known).sort()).toEqual(
      'base_ref id metadata outcome pull_request received_at repository trigger type'.split(' '),
    );
    const isOfKey = JSON.stringify(event.metadata).includes('"type":"application"');
    expect(on_behalf_of).toEqual(isOfKey ? { type: 'user', id: 0, name: 'test' } : undefined);
    expect(event.repository).toBe('acme/web');
  }
  const own = body.events.filter(({ trigger }: Event) => trigger === 'api').reverse();
  expect(own.map(({ type }: Event) => type)).toEqual([
    'scheduled_freeze.create',
    'scheduled_freeze.update',
    'scheduled_freeze.delete',
    'product.disabled',
    'product.enabled',
  ]);
  const at = '2026-03-01T09:00:00.000Z';
  const attributes = { ...freezeBody, exclude_conditions: [] };
  const after = { ...attributes, reason: 'Longer', end: null };
  const key = { type: 'application', id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'admin key' };
  const person = (name: string) => ({ type: 'user', id: expect.any(Number), name });
  expect(own.map(({ metadata }: Event) => metadata)).toEqual([
    {
      scheduled_freeze_id: freeze.id,
      scheduled_freeze_attributes: attributes,
      created_by: key,
      created_at: at,
      created_by_staff: false,
    },
    {
      scheduled_freeze_id: freeze.id,
      scheduled_freeze_attributes_before: attributes,
      scheduled_freeze_attributes_after: after,
      updated_by: person('rita'),
      updated_at: at,
      updated_by_staff: false,
    },
    {
      scheduled_freeze_id: freeze.id,
      scheduled_freeze_attributes: after,
      reason: 'Shipped',
      deleted_by: person('ada'),
      deleted_at: at,
      deleted_by_staff: false,
    },
    { product: 'merge_protections', disabled_by: key, disabled_at: at, disabled_by_staff: false },
    { product: 'merge_protections', enabled_by: key, enabled_at: at, enabled_by_staff: false },
  ]);
});

test.each<[query: string, keeps: (event: Event) => boolean]>([
  ['&event_type=product.enabled', ({ type }) => type === 'product.enabled'],
  ['&event_type=product.enabled&event_type=product.disabled', ({ type }) => type.startsWith('product.')],
  ['&not_event_type=product.enabled', ({ type }) => type !== 'product.enabled'],
  ['&outcome=failure', ({ outcome }) => outcome === 'failure'],
  ['&not_outcome=failure&not_outcome=success', ({ outcome }) => !['failure', 'success'].includes(outcome)],
  ['&trigger=clock', ({ trigger }) => trigger === 'clock'],
  ['&not_trigger=clock', ({ trigger }) => trigger !== 'clock'],
  ['&pull_request=7', (event) => event.pull_request === 7],
  ['&pull_request=7&pull_request=8', (event) => [7, 8].includes(event.pull_request ?? 0)],
  ['&not_pull_request=7', (event) => event.pull_request !== 7],
  ['&batch_pull=7', () => false],
  ['&not_batch_pull=7', () => true],
  ['&event_type=test.quarantined&event_type=action.dequeue', () => false],
  ['&base_ref=main', ({ trigger }) => trigger === 'clock'],
  ['&base_ref=other', () => false],
  ['&trigger=clock&not_outcome=failure', (event) => event.trigger === 'clock' && event.outcome !== 'failure'],
  ['&trigger=%27%20OR%201%3D1--', () => false],
])('the filter %s', async (query, keeps) => {
  const all = await events();
  expect(all).toHaveLength(8);
  expect(await events(query)).toEqual(all.filter(keeps));
});

test.each([
  ['&received_to=2026-03-01T08:00:00Z', 3],
  ['&received_to=2026-03-01T07:59:59Z', 0],
  ['&received_from=2026-03-01T08:00:01Z', 5],
  ['&received_from=2026-03-01T10:00:00%2B01:00', 5],
  ['&received_from=2026-01-01T00:00:00Z', 9],
  ['&received_from=2026-01-01T00:00:00Z&received_to=2026-02-01T00:00:00Z', 1],
  ['&received_from=2026-01-01T00:00:00Z&received_to=2026-04-04T00:00:00Z', 9],
])('the span %s', async (query, count) => {
  expect(await events(query)).toHaveLength(count);
});

test('without a span: the last day', async () => {
  const dayAgo = Date.parse('2026-02-28T09:00:00Z');
  expect((await events()).every(({ received_at }) => Date.parse(received_at) >= dayAgo)).toBe(true);
});

describe('paging', () => {
  test.each([1, 3, 5, 7])('%i a page, there and back again', async (size) => {
    const all = await events();
    const walk = async (start: string, rel: 'next' | 'prev') => {
      const pages: Event[][] = [];
      for (let url: string | undefined = start; url;) {
        const answer = await acme.call('GET', url.replace('https://holdfast.example', ''), {
          as: acme.keys.admin,
        });
        expect(answer.status).toBe(200);
        pages.push(answer.body.events);
        expect(answer.body).toMatchObject({ size: answer.body.events.length, per_page: size });
        const next: Record<string, string> = links(answer.headers);
        if (pages.length === 1 && rel === 'next') expect(next['prev']).toBeUndefined();
        // Who came from an older page can go back to it.
        if (rel === 'prev') expect(next['next']).toBeDefined();
        url = next[rel];
        if (url) {
          expect(url).toMatch(/^https:\/\/holdfast\.example\/v1\/repos\/acme\/web\/logs\?/);
          last = url;
        }
      }
      return pages;
    };
    let last = '';
    const forward = await walk(`${path}?per_page=${size}`, 'next');
    expect(forward.flat()).toEqual(all);
    expect(forward).toHaveLength(Math.ceil(all.length / size));
    const lastPage = await acme.call('GET', last.replace('https://holdfast.example', ''), {
      as: acme.keys.admin,
    });
    expect(links(lastPage.headers)['next']).toBeUndefined();
    const back = await walk(links(lastPage.headers)['prev']!, 'prev');
    expect(back.reverse().flat()).toEqual(forward.slice(0, -1).flat());
  });

  test('one page has no links', async () => {
    const { headers } = await read('?per_page=8');
    expect(headers.get('link')).toBeNull();
  });

  test('a link keeps the filters', async () => {
    const { headers } = await read('?per_page=1&trigger=api&not_event_type=product.enabled');
    const { next } = links(headers);
    expect(next).toContain('trigger=api');
    expect(next).toContain('not_event_type=product.enabled');
    const rest = await acme.call('GET', new URL(next!).pathname + new URL(next!).search, {
      as: acme.keys.admin,
    });
    expect(rest.body.events[0].type).toBe('scheduled_freeze.delete');
  });

  test('new events do not move the pages', async () => {
    const first = await read('?per_page=4');
    const expected = (await events()).slice(4, 8);
    await acme.call('PUT', '/v1/products/acme/web', {
      as: acme.keys.admin,
      body: { products: ['merge_queue'] },
    });
    const { next } = links(first.headers);
    const second = await acme.call('GET', next!.replace('https://holdfast.example', ''), {
      as: acme.keys.admin,
    });
    expect(second.body.events).toEqual(expected);
  });
});

const base64 = (text: string) => Buffer.from(text).toString('base64url');

test.each<[query: string, loc: string]>([
  ['per_page=0', 'per_page'],
  ['per_page=101', 'per_page'],
  ['per_page=-1', 'per_page'],
  ['per_page=1.5', 'per_page'],
  ['per_page=1e1', 'per_page'],
  ['per_page=010', 'per_page'],
  ['per_page=', 'per_page'],
  ['per_page=ten', 'per_page'],
  ['per_page=10&per_page=20', 'per_page'],
  ['cursor=', 'cursor'],
  ['cursor=x', 'cursor'],
  ['cursor=5', 'cursor'],
  [`cursor=${base64('older:')}`, 'cursor'],
  [`cursor=${base64('older:-1')}`, 'cursor'],
  [`cursor=${base64('older:1e9')}`, 'cursor'],
  [`cursor=${base64('sideways:1')}`, 'cursor'],
  [`cursor=${base64('older:9999999999999999999')}`, 'cursor'],
  [`cursor=${base64('older:1; DROP TABLE freezes')}`, 'cursor'],
  [`cursor=${'A'.repeat(101)}`, 'cursor'],
  ['cursor=%00', 'cursor'],
  ['event_type=freeze', 'event_type'],
  ['event_type=product.enabled&event_type=constructor', 'event_type'],
  ['outcome=good', 'outcome'],
  ['outcome=Success', 'outcome'],
  ['pull_request=x', 'pull_request'],
  ['pull_request=-1', 'pull_request'],
  ['pull_request=07', 'pull_request'],
  ['pull_request=99999999999999999999', 'pull_request'],
  ['trigger=%00', 'trigger'],
  ['base_ref=%00', 'base_ref'],
  ['pull_request=1&not_pull_request=2', 'not_pull_request'],
  ['batch_pull=x', 'batch_pull'],
  ['batch_pull=1&not_batch_pull=2', 'not_batch_pull'],
  ['event_type=product.enabled&not_event_type=product.enabled', 'not_event_type'],
  ['outcome=success&not_outcome=failure', 'not_outcome'],
  ['trigger=api&not_trigger=x', 'not_trigger'],
  ['received_from=yesterday', 'received_from'],
  ['received_from=2026-03-01', 'received_from'],
  ['received_from=2026-03-01T00:00:00', 'received_from'],
  ['received_to=2026-02-30T00:00:00Z', 'received_to'],
  ['received_from=2026-03-01T10:00:00Z', 'received_from'],
  ['received_from=2026-03-01T08:00:00Z&received_to=2026-03-01T07:00:00Z', 'received_from'],
  ['received_from=2025-11-28T08:59:59Z', 'received_from'],
  ['received_from=2026-01-01T00:00:00Z&received_to=2026-04-04T00:00:01Z', 'received_from'],
  ['received_to=0000-01-01T00:00:00Z', 'received_to'],
  ['received_to=0001-01-01T00:00:00Z', 'received_to'],
  ['received_to=9999-12-31T23:59:59-23:59', 'received_to'],
])('%s is refused', async (query, loc) => {
  const answer = await read(`?${query}`);
  expect(answer.status, answer.text).toBe(422);
  expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['query', loc]);
});

const wrongValues: [query: string, says: string][] = [
  ['event_type=product.enable', '`product.enable` is not an event type. Did you mean product.enabled?'],
  ['event_type=action.queue.merge', 'Did you mean action.queue.merged?'],
  ['event_type=nonsense', '`nonsense` is not an event type. Holdfast writes scheduled_freeze.create, '],
  ['event_type=product.enabled&event_type=constructor', '`constructor` is not an event type'],
  ['not_event_type=nonsense', '`nonsense` is not an event type'],
  ['outcome=Success', '`Success` is not an outcome. Send one of success, failure, pending, neutral.'],
  ['pull_request=07', '`07` is not a pull request number. Send digits, such as 42.'],
];
test.each(wrongValues)('%s: the wrong value is named', async (query, says) => {
  const { status, body } = await read(`?${query}`);
  expect(status).toBe(422);
  expect(body.detail.map(({ msg }: { msg: string }) => msg)).toEqual([expect.stringContaining(says)]);
});

test('the answer names the wrong values, each by its place', async () => {
  const { body } = await read('?event_type=nonsense&event_type=product.enabled&event_type=');
  expect(body.detail.map(({ loc }: { loc: unknown[] }) => loc)).toEqual([
    ['query', 'event_type', 0],
    ['query', 'event_type', 2],
  ]);
});

// As the interface's own OpenAPI document has them; a client may show a list of them all to choose from.
const typesOfTheInterface = `
  action.assign action.backport action.close action.comment action.copy action.delete_head_branch
  action.dismiss_reviews action.edit action.github_actions action.label action.merge action.post_check
  action.queue.batch_bisection_end action.queue.batch_bisection_start action.queue.change
  action.queue.checks.change action.queue.checks_end action.queue.checks_not_started action.queue.checks_start
  action.queue.enter action.queue.leave action.queue.merged action.rebase action.refresh action.request_reviews
  action.requeue action.review action.squash action.unqueue action.update ci_issue.created ci_issue.linked
  ci_issue.merged ci_issue.renamed ci_issue.reopened ci_issue.resolved ci_issue.unresolved command.dequeue
  command.queue command.requeue queue.pause.create queue.pause.delete queue.pause.update
  scheduled_freeze.create scheduled_freeze.delete scheduled_freeze.update product.enabled product.disabled
`
  .trim()
  .split(/\s+/);

test('every event type of the interface can be requested, or left out', async () => {
  const all = await events();
  for (const type of typesOfTheInterface) {
    const wanted = all.filter((event) => event.type === type);
    expect(await events(`&event_type=${type}`), type).toEqual(wanted);
  }
  const every = typesOfTheInterface.map((type) => `&event_type=${type}`).join('');
  expect(await events(every)).toEqual(all);
  expect(await events(every.replaceAll('&event_type', '&not_event_type'))).toEqual([]);
});

test.each(['received_to=9999-12-31T23:59:59Z', `cursor=${base64('older:0')}`])(
  '%s is odd, and finds nothing',
  async (query) => {
    expect(await events(`&${query}`)).toEqual([]);
  },
);

test('unknown parameters are ignored', async () => {
  expect((await read('?page=3&__proto__=x&constructor=1')).status).toBe(200);
});

describe('who acted for whom', () => {
  const owners = async (query = '') => {
    const { status, text, body } = await acme.call('GET', `/v1/logs/acme?per_page=100${query}`, {
      as: acme.keys.admin,
    });
    expect(status, text).toBe(200);
    return body.events as (Event & {
      repository: string | null;
      on_behalf_of?: object;
      freeze_plan?: object;
    })[];
  };

  test.each([
    ['&by=rita', ['scheduled_freeze.update']],
    ['&by=%40ADA', ['scheduled_freeze.delete']],
    ['&by=nobody', []],
    ['&by=ri', []],
    ['&by=%25', []],
  ])('%s', async (query, types) => {
    expect((await events(query)).map(({ type }) => type)).toEqual(types);
  });

  test('a person’s events have those of their keys, by the name of the person or of the key', async () => {
    const byKey = await events('&by=admin%20key');
    expect(byKey.length).toBeGreaterThan(2);
    expect(await events('&by=test')).toEqual(byKey);
  });

  test('the owner’s log has its repositories only if they are asked for', async () => {
    const own = await owners();
    expect(own.length).toBeGreaterThan(0);
    expect(own.every(({ repository }) => repository === null)).toBe(true);
    const all = await owners('&repositories=all');
    expect(all.filter(({ repository }) => repository === null)).toEqual(own);
    expect(new Set(all.map(({ repository }) => repository))).toEqual(
      new Set([null, 'acme/web', 'acme/vault']),
    );
    const odd = await acme.call('GET', '/v1/logs/acme?repositories=some', { as: acme.keys.admin });
    expect(odd.status).toBe(422);
  });

  test('what Holdfast does for a plan names the plan and the person', async () => {
    const body = {
      ...{ name: 'Every week', reason: 'Books', timezone: 'UTC', repositories: { include: ['new-*'] } },
      ...{ start: '2026-03-06T18:00:00', end: '2026-03-07T18:00:00', recurrence: { rule: 'FREQ=WEEKLY' } },
    };
    const plan = await acme.call('POST', '/v1/freeze_plans/acme', { as: acme.people.ada, body });
    expect(plan.status, plan.text).toBe(201);
    const products = { products: ['merge_queue'] };
    await acme.call('PUT', '/v1/default_products/acme', { as: acme.keys.admin, body: products });
    acme.github.addRepository('acme/new-one');
    await acme.quiet();
    const [event] = await owners('&repositories=all&event_type=scheduled_freeze.create&by=ada');
    expect(event).toMatchObject({
      repository: 'acme/new-one',
      metadata: { created_by: { id: 'holdfast' } },
      on_behalf_of: { type: 'user', name: 'ada' },
      freeze_plan: { id: plan.body.id, name: 'Every week' },
    });
    const inside = await acme.call('GET', '/v1/repos/acme/new-one/logs', { as: acme.keys.admin });
    expect(inside.body.events[0].freeze_plan).toEqual({ id: plan.body.id });
  });
});
