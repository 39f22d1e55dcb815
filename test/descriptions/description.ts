// One of GitHub's own descriptions of itself, from @octokit/openapi, as something that judges.
import addFormats from 'ajv-formats';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { readdirSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { isLeftOut } from '../recorded/compare.ts';
import { close, mapped, type Schema } from '../support/closed-schema.ts';

export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Schema };
type Content = { content?: Record<string, { schema: Schema }> };
export type Operation = {
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content | { $ref: string }>;
  deprecated?: boolean;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  'x-webhooks': Record<string, { post: { requestBody: Content } }>;
  components: { schemas: Schema; parameters: Schema; responses: Schema };
};

/** What is wrong with a value: one sentence for each place. */
export type Judge = (value: unknown) => string[];

export type Description = {
  name: string;
  /** The template of a path, and its operation; undefined if there is none. */
  operation(method: string, path: string): Found | undefined;
  /** The values that a described thing refers to. */
  resolved<Thing>(thing: Thing | { $ref: string }): Thing;
  /** A judge of values for a schema of the document, by the steps to it. */
  judge(steps: string[]): Judge;
  /** Null: nothing is described. */
  judgeOfWebhook(event: string, action: string | undefined): Judge | null;
};
type Found = { template: string; steps: string[]; operation: Operation; values: Record<string, string> };

/**
 * GitHub serves some things by id as well, at addresses that its redirects (octokit/fixtures: rename-repository) and its
 * answers about teams have. They are the same routes.
 */
const byName = (path: string): string =>
  path
    .replace(/^\/repositories\/\d+(?=\/|$)/, '/repos/owner/repo')
    .replace(/^\/organizations\/\d+\/team\/\d+(?=\/|$)/, '/orgs/org/teams/team');

const generated = join(dirname(findPackageJSON('@octokit/openapi', import.meta.url)!), 'generated');

/** github.com, and the oldest and the newest Enterprise Server that the package has. */
export const names: string[] = (() => {
  const servers = readdirSync(generated)
    .map((file) => /^(ghes-[\d.]+)\.json$/.exec(file)?.[1])
    .filter((name) => name !== undefined)
    .sort((one, other) => Number(one.split('.')[1]) - Number(other.split('.')[1]));
  return ['api.github.com', servers[0]!, servers.at(-1)!];
})();

/** Reads a description. It takes about a second. */
export function description(name: string): Description {
  const document = strict(JSON.parse(readFileSync(join(generated, `${name}.json`), 'utf8')) as Document);
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'github');
  const validators = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths).map((template) => ({
    template,
    steps: template.split('/'),
    parameters: template.split('{').length,
  }));
  templates.sort((one, other) => one.parameters - other.parameters);

  const resolved = <Thing>(thing: Thing | { $ref: string }): Thing =>
    thing !== null && typeof thing === 'object' && '$ref' in thing
      ? (thing.$ref
          .split('/')
          .slice(1)
          .reduce<unknown>((inside, step) => (inside as Schema)[step], document) as Thing)
      : (thing as Thing);

  const judge = (steps: string[]): Judge => {
    const pointer = steps.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `github#/${pointer.join('/')}`;
    const validate = validators.get($ref) ?? ajv.compile({ $ref });
    validators.set($ref, validate);
    return (value) => (validate(value) ? [] : sentences(validate.errors ?? []));
  };

  return {
    name,
    operation(method, path) {
      const steps = byName(path).split('/');
      for (const { template, steps: wanted } of templates) {
        const operation = document.paths[template]![method.toLowerCase()];
        // The path of a file has slashes.
        const last = wanted.at(-1) === '{path}' ? wanted.length - 1 : steps.length;
        const given = [
          ...steps.slice(0, last),
          ...(steps.length > last ? [steps.slice(last).join('/')] : []),
        ];
        const fits = wanted.every((step, at) => (step.startsWith('{') ? given[at] : step === given[at]));
        if (!operation || wanted.length !== given.length || !fits) continue;
        const values = Object.fromEntries(
          wanted.flatMap((step, at) =>
            step.startsWith('{') ? [[step.slice(1, -1), decodeURIComponent(given[at]!)]] : [],
          ),
        );
        return { template, steps: ['paths', template, method.toLowerCase()], operation, values };
      }
      return undefined;
    },
    resolved,
    judge,
    judgeOfWebhook(event, action) {
      const name = [event, action].filter(Boolean).join('-').replaceAll('_', '-');
      if (!(name in document['x-webhooks'])) return null;
      return judge(['x-webhooks', name, 'post', 'requestBody', 'content', 'application/json', 'schema']);
    },
  };
}

/** Errors of ajv in words. Of alternatives none of which fits, it is only said that none does. */
function sentences(errors: ErrorObject[]): string[] {
  const open = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .map(({ instancePath }) => instancePath);
  const isInside = (path: string) => open.some((each) => path === each || path.startsWith(`${each}/`));
  const outer = open.filter((each) => !open.some((other) => each.startsWith(`${other}/`)));
  return [
    ...new Set([
      ...errors.filter(({ instancePath }) => !isInside(instancePath)).map(sentence),
      ...outer.map((path) => `${placeOf(path)} is nothing that is described`),
    ]),
  ];
}

const placeOf = (path: string): string =>
  path
    .slice(1)
    .replaceAll(/(^|\/)\d+(?=\/|$)/g, '$1[]')
    .replaceAll('/', '.') || 'the body';

function sentence({ keyword, params, instancePath, message }: ErrorObject): string {
  const place = placeOf(instancePath);
  const inside = (key: string) => (place === 'the body' ? key : `${place}.${key}`);
  if (keyword === 'required') return `${inside(params['missingProperty'] as string)} is not there`;
  if (keyword === 'unevaluatedProperties')
    return `${inside(params['unevaluatedProperty'] as string)} is not described`;
  if (keyword === 'additionalProperties')
    return `${inside(params['additionalProperty'] as string)} is not described`;
  return `${place} ${message}`;
}

/**
 * A copy that judges as GitHub means it: nothing that is not described, null where it can be, and no demand for what the
 * sandbox leaves out everywhere.
 */
function strict(document: Document): Document {
  const changed = withNulls(document) as Document;
  changed.components.schemas = mapped(changed.components.schemas, (schema) => close(schema, true));
  for (const operations of Object.values(changed.paths))
    for (const operation of Object.values(operations)) {
      closeContent(operation.requestBody);
      for (const response of Object.values(operation.responses ?? {})) closeContent(response);
    }
  for (const { post } of Object.values(changed['x-webhooks'])) closeContent(post.requestBody);
  return changed;
}

function closeContent(described: Content | { $ref: string } | undefined): void {
  if (!described || !('content' in described)) return;
  for (const type of Object.values(described.content ?? {})) type.schema = close(type.schema);
}

/** OpenAPI 3.0 says `nullable`, JSON Schema has a type for it. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNulls);
  if (value === null || typeof value !== 'object') return value;
  const { nullable, ...schema } = Object.fromEntries(
    Object.entries(value)
      // Long, and no schemas.
      .filter(([key]) => key !== 'examples' && key !== 'example')
      .map(([key, each]) => [key, withNulls(each)]),
  ) as Schema;
  if (Array.isArray(schema['required']) && 'properties' in schema)
    schema['required'] = schema['required'].filter((key) => !isLeftOut(key as string));
  if (nullable !== true) return schema;
  if (typeof schema['type'] !== 'string') return { anyOf: [{ type: 'null' }, schema] };
  const values = Array.isArray(schema['enum']) ? { enum: [...schema['enum'], null] } : {};
  return { ...schema, ...values, type: [schema['type'], 'null'] };
}
