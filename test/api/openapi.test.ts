import { beforeAll, expect, test } from 'vitest';
import { endpoints } from '../../src/api/endpoints.ts';
import { freezeBody, acmeForAll } from './acme.ts';
import type { Answer } from '../support/holdfast.ts';

// That every answer which any test sees is as documented: test/support/watch-answers.ts. That every status of the
// document is answered: every-status.test.ts.

const acme = acmeForAll();
let document: Answer['body'];
beforeAll(async () => {
  document = (await acme.call('GET', '/v1/openapi.json')).body;
  // The exclusion of the examples.
  acme.github.openPullRequest('acme/web', { author: 'ada', labels: ['hotfix'] });
  await acme.quiet();
});

type Operation = { path: string; method: string; operation: Answer['body'] };
const operations = (): Operation[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as object).map(([method, operation]) => ({ path, method, operation })),
  );

/** Every value in the document under a key. */
function all(key: string, at: unknown = document): unknown[] {
  if (typeof at !== 'object' || at === null) return [];
  return Object.entries(at).flatMap(([name, value]) => [
    ...(name === key ? [value] : []),
    ...all(key, value),
  ]);
}

test('everybody can read it, and it is OpenAPI 3.1', async () => {
  expect(document.openapi).toMatch(/^3\.1\.\d$/);
  expect(document.info).toMatchObject({ title: 'Holdfast', version: '1' });
  expect(document.servers).toEqual([{ url: 'https://holdfast.example/v1' }]);
  expect(Object.keys(document.paths).every((path) => path.startsWith('/'))).toBe(true);
  // Words of 3.0 that 3.1 does not know.
  expect(all('nullable')).toEqual([]);
  expect(all('exclusiveMinimum').every((value) => typeof value === 'number')).toBe(true);
});

test('every mounted route is in it, and nothing else', () => {
  expect(
    operations()
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  ).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`).sort());
});

test('every reference leads somewhere', () => {
  const references = new Set(all('$ref') as string[]);
  expect(references.size).toBeGreaterThan(5);
  for (const reference of references) {
    const steps = reference.replace(/^#\//, '').split('/');
    const found = steps.reduce((at: Answer['body'], name) => at?.[name], document);
    expect(found, reference).toBeTypeOf('object');
  }
});

/** The limits of each field and parameter, by its name; those of a list's items by its name with `[]`. */
function limitsOf(at: unknown, name = '', found = new Map<string, Set<string>>()) {
  if (typeof at !== 'object' || at === null) return found;
  for (const [word, value] of Object.entries(at))
    if (/^(min|max)/.test(word)) found.set(name, (found.get(name) ?? new Set()).add(`${word} ${value}`));
  const own = 'in' in at && 'name' in at ? String(at.name) : name;
  for (const [key, inner] of Object.entries(at)) {
    if (key === 'responses' || key === 'example') continue;
    const isField = 'properties' in at && key === 'properties';
    if (isField)
      for (const [field, schema] of Object.entries(inner as object)) limitsOf(schema, field, found);
    else limitsOf(inner, key === 'items' ? `${own}[]` : own, found);
  }
  return found;
}

test('every limit is the one that clients know', () => {
  const limits = Object.fromEntries(
    [...limitsOf(document)].map(([name, set]) => [name, [...set].join(', ')]),
  );
  const [words, reason, conditions, list] = [
    'minLength 1, maxLength 255',
    'maxLength 10000',
    'maxItems 500',
    'minItems 1, maxItems 50',
  ];
  expect(limits).toEqual({
    '': 'minProperties 1, maxProperties 1',
    'Idempotency-Key': words,
    and: `minItems 1, ${conditions}`,
    approvers: 'maxItems 50',
    archived: 'minItems 1',
    'approvers[]': 'maxLength 100',
    base: words,
    branch: words,
    by: 'maxLength 255',
    cursor: 'maxLength 100',
    delete_reason: reason,
    description: 'maxLength 255',
    environment: words,
    environments: 'minItems 1, maxItems 100, maxItems 50',
    'environments[]': words,
    events: 'minItems 1',
    except: 'maxItems 1000',
    exclude: 'maxItems 1000',
    exclude_conditions: conditions,
    freeze_ids: 'minItems 1, maxItems 1000',
    freezers: 'maxItems 50',
    'freezers[]': 'maxLength 100',
    holds: 'minItems 1',
    include: 'minItems 1, maxItems 1000',
    longest_open_end_hours: 'minimum 1, maximum 87600',
    matching_conditions: conditions,
    name: words,
    number: `minimum 0, maximum ${2 ** 63}`,
    or: `minItems 1, ${conditions}`,
    owner: 'minLength 1, maxLength 40',
    per_page: 'minimum 1, maximum 100',
    public_reason: reason,
    pull_request: 'minimum 0',
    reason: `${reason}, minLength 1, maxLength 255`,
    refs: list,
    'refs[]': words,
    repositories: 'minItems 1, maxItems 50, maxItems 1000',
    'repositories[]': 'minLength 1, maxLength 255, maxLength 100',
    repository: 'minLength 1, maxLength 100',
    rule: 'maxLength 1000',
    'scopes[]': words,
    titles: list,
    url: 'maxLength 2000, minLength 1',
    warnings: 'minItems 1',
  });
});

test('every operation says who can call it, by defined schemes', () => {
  const schemes = document.components.securitySchemes;
  expect(Object.keys(schemes).sort()).toEqual(['adminKey', 'ciKey', 'githubToken', 'jobToken']);
  for (const scheme of Object.values(schemes))
    expect(scheme).toMatchObject({ type: 'http', scheme: 'bearer' });
  const withJobs = ['delete', 'patch', 'post'];
  for (const { operation, path, method } of operations()) {
    const named = operation.security.flatMap((each: object) => Object.keys(each));
    expect(named.length, path).toBeGreaterThan(0);
    for (const name of named) expect(schemes).toHaveProperty(name);
    if (path.endsWith('/scopes')) expect(named).toEqual(['ciKey', 'jobToken']);
    else if (path.endsWith('/freeze_state'))
      expect(named).toEqual(['adminKey', 'ciKey', 'githubToken', 'jobToken']);
    else if (
      withJobs.includes(method) &&
      /\/scheduled_freeze(\/\{freeze_id\}(\/(delete|restore))?)?$/.test(path)
    )
      expect(named).toEqual(['adminKey', 'githubToken', 'jobToken']);
    else if (path === '/application') expect(named).toEqual(['adminKey', 'ciKey']);
    else expect(named).toEqual(['adminKey', 'githubToken']);
  }
});

test('every operation has a name of its own, for generated clients', () => {
  const names = operations().map(({ operation }) => operation.operationId);
  expect(names).toContain('get_repos_owner_repository_scheduled_freeze');
  for (const name of names) expect(name).toMatch(/^(get|post|put|patch|delete)(_[a-z]+)+$/);
  expect(new Set(names).size).toBe(names.length);
});

test('every name in a path is a required parameter of it, and the other way round', () => {
  for (const { path, operation } of operations()) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const parameters = (operation.parameters ?? []) as {
      in: string;
      name: string;
      required?: boolean;
      schema: object;
    }[];
    const inPath = parameters.filter((each) => each.in === 'path');
    expect(inPath.map(({ name }) => name).sort(), path).toEqual(names.sort());
    for (const parameter of parameters) {
      expect(parameter.schema, `${path} ${parameter.name}`).toBeTypeOf('object');
      if (parameter.in === 'path') expect(parameter.required).toBe(true);
    }
  }
});

test('every operation has a summary, one success, and the error shape for the rest', () => {
  for (const { method, path, operation } of operations()) {
    const what = `${method} ${path}`;
    expect(operation.summary, what).toMatch(/\w/);
    const statuses = Object.keys(operation.responses);
    expect(
      statuses.filter((status) => Number(status) < 300),
      what,
    ).toHaveLength(1);
    for (const [status, response] of Object.entries(operation.responses as Record<string, Answer['body']>)) {
      expect(response.description, `${what} ${status}`).toMatch(/\w/);
      if (status === '204' || status === '304') expect(response.content).toBeUndefined();
      else expect(response.content['application/json'].schema, `${what} ${status}`).toBeTypeOf('object');
      if (Number(status) >= 400) {
        expect(response.content['application/json'].schema.$ref).toBe('#/components/schemas/Error');
      }
    }
    if (operation.requestBody) {
      const needsNone = what.endsWith('/approve') || what === 'delete /freeze_plans/{owner}/{plan_id}';
      expect(operation.requestBody.required, what).toBe(!needsNone);
      const { schema, example } = operation.requestBody.content['application/json'];
      expect(schema, what).toBeTypeOf('object');
      expect(example, what).toBeTypeOf('object');
    }
  }
});

test('the errors of the interface specification are in it', () => {
  const statuses = (method: string, path: string) => Object.keys(document.paths[path][method].responses);
  const repository = '/repos/{owner}/{repository}';
  const freeze = `${repository}/scheduled_freeze`;
  const rows: [string, string, string[]][] = [
    ['put', `${repository}/pulls/{number}/scopes`, ['204', '403', '404', '409', '422']],
    ['post', `${repository}/pulls/{number}/scopes`, ['204', '403', '404', '409', '422']],
    ['get', freeze, ['200', '403', '404', '409', '422']],
    ['post', freeze, ['201', '403', '404', '409', '422']],
    ['patch', `${freeze}/{freeze_id}`, ['200', '400', '403', '404', '409', '422']],
    ['delete', `${freeze}/{freeze_id}`, ['204', '403', '404', '409', '422']],
    ['post', `${freeze}/{freeze_id}/delete`, ['204', '403', '404', '409', '422']],
    ['put', '/products/{owner}/{repository}', ['204', '403', '404', '409', '422']],
    ['get', '/default_products/{owner}', ['200', '403', '404', '422']],
    ['put', '/default_products/{owner}', ['204', '403', '404', '409', '422']],
  ];
  for (const [method, path, wanted] of rows) {
    expect(statuses(method, path), `${method} ${path}`).toEqual(expect.arrayContaining(wanted));
  }
});

test('exactly the deprecated parts say so', () => {
  const deprecated = operations().filter(({ operation }) => operation.deprecated);
  expect(deprecated.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'delete /repos/{owner}/{repository}/scheduled_freeze/{freeze_id}',
    'post /repos/{owner}/{repository}/pulls/{number}/scopes',
  ]);
});

test('limits and requirements are in the schemas', () => {
  const { NewScheduledFreeze, PullRequestScopes, Products } = document.components.schemas;
  expect(NewScheduledFreeze.required.toSorted()).toEqual(['reason', 'start', 'timezone']);
  expect(NewScheduledFreeze.properties.reason).toMatchObject({ type: 'string', maxLength: 10_000 });
  expect(PullRequestScopes.required).toEqual(['scopes']);
  // 500 different ones, of a list as long as somebody likes.
  expect(PullRequestScopes.properties.scopes).not.toHaveProperty('maxItems');
  expect(PullRequestScopes.properties.scopes.items).toMatchObject({ minLength: 1, maxLength: 255 });
  expect(Products.properties.products.items.enum.toSorted()).toEqual([
    'ci_insights',
    'merge_protections',
    'merge_queue',
    'workflow_automation',
  ]);
  const [number] = document.paths['/repos/{owner}/{repository}/pulls/{number}/scopes'].put.parameters.filter(
    ({ name }: { name: string }) => name === 'number',
  );
  expect(number.schema).toMatchObject({ type: 'integer', minimum: 0, maximum: 9223372036854776000 });
});

test('the schemas have null exactly where a change accepts it', () => {
  const { NewScheduledFreeze, ScheduledFreezeChange } = document.components.schemas;
  const nullable = (schema: Answer['body']) =>
    Object.keys(schema.properties).filter((name) => schema.properties[name].type.includes('null'));
  expect(nullable(NewScheduledFreeze)).toEqual(['public_reason', 'start', 'end']);
  expect(nullable(ScheduledFreezeChange)).toEqual(Object.keys(NewScheduledFreeze.properties));
});

test('instants are RFC 3339, and wall-clock times are those without an offset', () => {
  const { NewScheduledFreeze, ScheduledFreezeChange, ScheduledFreeze, Event } = document.components.schemas;
  for (const { properties } of [NewScheduledFreeze, ScheduledFreezeChange, ScheduledFreeze]) {
    expect(properties.start.format).toBe('date-time-local');
    expect(properties.end.format).toBe('date-time-local');
  }
  expect(Event.properties.received_at.format).toBe('date-time');
  const { parameters } = document.paths['/repos/{owner}/{repository}/logs'].get;
  for (const name of ['received_from', 'received_to'])
    expect(parameters.find((each: { name: string }) => each.name === name).schema.format).toBe('date-time');
});

test('headers that clients need are in it', () => {
  const answer = (method: string, path: string, status: number) =>
    Object.keys(document.paths[path][method].responses[status].headers ?? {});
  const repository = '/repos/{owner}/{repository}';
  expect(answer('get', `${repository}/logs`, 200)).toEqual(['Link']);
  expect(answer('post', `${repository}/scheduled_freeze/preview`, 200)).toEqual(['Link']);
  expect(answer('delete', `${repository}/scheduled_freeze/{freeze_id}`, 204)).toEqual([
    'Deprecation',
    'Link',
  ]);
  expect(answer('get', '/application', 503)).toEqual(['Retry-After']);
});

test('the examples of the document are requests that succeed', async () => {
  const example = (method: string, path: string) =>
    document.paths[path][method].requestBody.content['application/json'].example;
  const freezes = '/repos/{owner}/{repository}/scheduled_freeze';
  const { keys } = acme;
  const made = await acme.call('POST', '/v1/repos/acme/web/scheduled_freeze', {
    as: keys.admin,
    body: example('post', freezes),
  });
  expect(made.status).toBe(201);
  const answered = document.paths[freezes].post.responses['201'].content['application/json'].example;
  expect(Object.keys(made.body).sort()).toEqual(Object.keys(answered).sort());
  const one = `/v1/repos/acme/web/scheduled_freeze/${made.body.id}`;
  const rest: [string, string, string, string, number][] = [
    ['PATCH', `${freezes}/{freeze_id}`, one, keys.admin, 200],
    ['POST', `${freezes}/{freeze_id}/delete`, `${one}/delete`, keys.admin, 204],
    ['PUT', '/products/{owner}/{repository}', '/v1/products/acme/web', keys.admin, 204],
    ['PUT', '/default_products/{owner}', '/v1/default_products/acme', keys.admin, 204],
    ['POST', '/applications/{owner}', '/v1/applications/acme', keys.admin, 201],
    [
      'PUT',
      '/repos/{owner}/{repository}/pulls/{number}/scopes',
      '/v1/repos/acme/web/pulls/1/scopes',
      keys.ci,
      204,
    ],
  ];
  for (const [method, path, url, as, status] of rest) {
    const answer = await acme.call(method, url, { as, body: example(method.toLowerCase(), path) });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(status);
  }
  expect(Object.keys(freezeBody)).toEqual(expect.arrayContaining(['reason', 'start', 'timezone']));
});

test('everybody can ask for health', async () => {
  expect(await acme.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await acme.call('GET', '/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', checks: { database: 'ok', job_queue: 'ok' } },
  });
});
