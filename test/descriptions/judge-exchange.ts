// Whether GitHub would take a request, and whether it would answer so.
import type { RecordedExchange } from '../support/record-github.ts';
import type { Description, Operation, Parameter } from './description.ts';
import { pathOf } from './recordings.ts';

/** What the REST API has had: GitHub Docs, API versions. Without the header it is the first. */
const versions = ['2022-11-28', '2026-03-10'];
/** GitHub's own, with and without the version of the format: GitHub Docs, media types. */
const mediaTypes = [
  /^application\/vnd\.github(?:\.v3)?\+json$/,
  // For `mergeStateStatus` of GraphQL on older Enterprise Servers: GitHub Docs, GraphQL schema previews.
  /^application\/vnd\.github\.merge-info-preview\+json$/,
  /^application\/json$/,
  /^\*\/\*$/,
];
/** GitHub says it in words only: `max 100`. */
const mostPerPage = 100;

/** The route in GitHub's words, which everything that is wrong with it begins with. */
export function routeOf(description: Description, exchange: RecordedExchange): string {
  const path = pathOf(exchange);
  return `${exchange.method} ${description.operation(exchange.method, path)?.template ?? anonymous(path)}`;
}

/** Without the names and ids of a story. */
const anonymous = (path: string): string =>
  path
    .replace(/^\/repos\/[^/]+\/[^/]+/, '/repos/{owner}/{repo}')
    .replace(/(?<=\/collaborators\/)[^/]+/, '{username}')
    .replaceAll(/\/(?:\d+|[\da-f]{8}-[\da-f-]{27})(?=\/|$)/g, '/{id}');

/** Whether GitHub would take a request. @returns a sentence for each fault. */
export function faultsOfRequest(description: Description, exchange: RecordedExchange): string[] {
  const { method, path, headers, body } = exchange;
  const found = description.operation(method, pathOf(exchange));
  const version = headers['x-github-api-version'];
  const faults = [
    ...(headers['user-agent'] ? [] : ['no User-Agent is sent']),
    ...(version && !versions.includes(version) ? [`there is no version ${version}`] : []),
    ...(headers['accept'] && !mediaTypes.some((each) => each.test(headers['accept']!))
      ? [`there is no media type ${headers['accept']}`]
      : []),
  ];
  if (!found) return [...faults, 'the route is not described'];
  const { operation, steps, values } = found;
  if (operation.deprecated) faults.push('the route is deprecated');
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  for (const [index, described] of (operation.parameters ?? []).entries()) {
    const parameter = description.resolved<Parameter>(described);
    const given = parameter.in === 'path' ? values[parameter.name] : query.get(parameter.name);
    if (parameter.in === 'query') query.delete(parameter.name);
    if (parameter.in === 'header') continue;
    if (given === undefined || given === null) {
      if (parameter.required) faults.push(`the parameter ${parameter.name} is not sent`);
      continue;
    }
    const place =
      '$ref' in described ? described.$ref.split('/').slice(1) : [...steps, 'parameters', String(index)];
    const wrong = description.judge([...place, 'schema'])(typed(given, parameter));
    faults.push(...wrong.map((one) => one.replace('the body', `the parameter ${parameter.name}`)));
    if (parameter.name === 'per_page' && Number(given) > mostPerPage)
      faults.push(`per_page is over ${mostPerPage}`);
  }
  for (const name of query.keys()) faults.push(`the parameter ${name} is not described`);
  return [...faults, ...faultsOfBody(description, { operation, steps, body, headers })];
}

function typed(given: string, { schema }: Parameter): unknown {
  if (schema['type'] === 'integer' && /^-?\d+$/.test(given)) return Number(given);
  if (schema['type'] === 'boolean' && /^(?:true|false)$/.test(given)) return given === 'true';
  return schema['type'] === 'array' ? given.split(',') : given;
}

function faultsOfBody(
  description: Description,
  {
    operation: { requestBody },
    steps,
    body,
    headers,
  }: { operation: Operation; steps: string[] } & Pick<RecordedExchange, 'body' | 'headers'>,
): string[] {
  if (body === null) return requestBody?.required ? ['no body is sent'] : [];
  if (!requestBody) return ['a body is sent, and none is described'];
  const type = headers['content-type'] ?? '';
  if (!/^application\/json(?:;|$)/.test(type)) return [`the body is sent as ${type}`];
  const place = [...steps, 'requestBody', 'content', 'application/json', 'schema'];
  return description
    .judge(place)(body)
    .map((one) => `of the body sent, ${one}`);
}

/** Refusals, which every route has: GitHub describes them for some routes only. */
const refusal = ['components', 'schemas', 'basic-error'];
/** Moved, not modified. */
const bodiless = new Set([204, 304]);

/** Whether GitHub would answer so. @returns a sentence for each fault. */
export function faultsOfAnswer(description: Description, exchange: RecordedExchange): string[] {
  const { method, status, answer, answerHeaders } = exchange;
  const found = description.operation(method, pathOf(exchange));
  const faults = faultsOfInstants(answer);
  if (method === 'GET' && status === 200 && !answerHeaders['etag']) faults.push('the answer has no ETag');
  if (bodiless.has(status) && answer !== null) faults.push(`an answer of ${status} has a body`);
  if (!found || bodiless.has(status)) return faults;
  const response = found.operation.responses[status];
  const described = response && description.resolved<{ content?: Record<string, object> }>(response);
  const type = Object.keys(described?.content ?? {}).find((each) => /json/.test(each));
  if (status >= 300) {
    const judged = status < 400 ? [] : description.judge(refusal)(withoutErrors(answer));
    return [...faults, ...judged.map((one) => `of a refusal, ${one}`)];
  }
  if (!described) return [...faults, `an answer of ${status} is not described`];
  if (!type) return answer === null ? faults : [...faults, `an answer of ${status} has a body`];
  const place =
    '$ref' in response! ? response.$ref.split('/').slice(1) : [...found.steps, 'responses', String(status)];
  return [...faults, ...description.judge([...place, 'content', type, 'schema'])(answer)];
}

/** Their forms are many. */
function withoutErrors(answer: unknown): unknown {
  if (answer === null || typeof answer !== 'object') return answer;
  return Object.fromEntries(Object.entries(answer).filter(([key]) => key !== 'errors'));
}

/** All of octokit/fixtures, hub4j/github-api and PyGithub/PyGithub have whole seconds. */
export function faultsOfInstants(value: unknown): string[] {
  const found = new Set<string>();
  JSON.stringify(value, (key, each: unknown) => {
    if (typeof each === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/.test(each)) found.add(key);
    return each;
  });
  return [...found].map((key) => `${key} has parts of a second`);
}
