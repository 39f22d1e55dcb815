// Whether an answer is one that the OpenAPI document promises, strictly: what it does not describe is a fault as well.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/api/openapi.ts';
import { close, mapped, type Schema } from './closed-schema.ts';

/** An answer as it left the service; `path` with `/v1` and the query, `text` is the body. */
export type SeenAnswer = { method: string; path: string; status: number; text: string };

type Operation = { responses: Record<string, { content?: Record<string, { schema: Schema }> }> };
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Schema } };

const document = closedDocument(openApiDocument('https://holdfast.example') as Document);
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictTypes: false });
addFormats.default(ajv);
// Of OpenAPI's registry of formats: RFC 3339 without the offset.
ajv.addFormat('date-time-local', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/);
// OpenAPI's own words, in schemas and around them.
ajv.addVocabulary(['example', ...Object.keys(document)]);
ajv.addSchema(document, 'openapi');

/** What the document has against an answer, in one sentence; null where it has nothing. */
export function faultOf(answer: SeenAnswer): string | null {
  const fault = look(answer);
  if (!fault) return null;
  const { method, path, status, text } = answer;
  return `${method} ${path.slice(0, 200)} answered ${status}, ${fault}: ${text.slice(0, 500)}`;
}

function look({ method, path, status, text }: SeenAnswer): string | null {
  // Dots in a path are resolved before it is routed.
  const { pathname } = new URL(`http://holdfast.example${path}`);
  const steps = pathname.split('/').slice(2);
  // Served like a GET, without the body.
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  if (verb === 'get' && steps.join('/') === 'openapi.json') return null;
  const template = templateOf(steps, verb);
  if (!template) {
    // What is wrong is the path, or the method alone.
    const isServed = steps.join('/') === 'openapi.json' || templatesOf(steps).length > 0;
    return status === (isServed ? 405 : 404) ? null : 'and no operation is documented there';
  }
  const place = ['paths', template, verb, 'responses', String(status)];
  const response = document.paths[template]![verb]!.responses[status];
  if (!response) return `which is not documented for ${verb} ${template}`;
  if (method === 'HEAD') return null;
  if (!response.content) return text === '' ? null : 'with a body that is not documented';
  return mismatch([...place, 'content', 'application/json', 'schema'], text);
}

function mismatch(place: string[], text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return 'which is not JSON';
  }
  if (holdsHalves(text, body)) return 'with half of a character';
  const valid = validatorAt(place);
  return valid(body) ? null : `which does not match (${ajv.errorsText(valid.errors, { dataVar: 'body' })})`;
}

/** Whether an answer has half of a surrogate pair anywhere, which JSON can only escape: databases and programs refuse it. */
const holdsHalves = (text: string, body: unknown): boolean =>
  /\\ud[89a-f]/i.test(text) && textsOf(body).some((each) => !each.isWellFormed());

const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...textsOf(each)]);
};

const validators = new Map<string, ValidateFunction>();

function validatorAt(place: string[]): ValidateFunction {
  const pointer = place.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
  const $ref = `openapi#/${pointer.join('/')}`;
  const validator = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, validator);
  return validator;
}

/** The path of the document that a request is for; a fixed step goes before a parameter. */
const templateOf = (steps: string[], verb: string): string | undefined =>
  templatesOf(steps).find((template) => document.paths[template]![verb]);

/** The paths of the document that fit, whatever their methods. */
function templatesOf(steps: string[]): string[] {
  const fits = (template: string) => {
    const pattern = template.split('/').slice(1);
    return (
      pattern.length === steps.length &&
      pattern.every((step, index) => (step.startsWith('{') ? steps[index] !== '' : step === steps[index]))
    );
  };
  const parameters = (template: string) => template.split('{').length;
  return Object.keys(document.paths)
    .filter(fits)
    .sort((one, other) => parameters(one) - parameters(other));
}

/** A copy whose answers let no property through that is not described, as JSON Schema would. */
function closedDocument(open: Document): Document {
  const closed = structuredClone(open);
  for (const operations of Object.values(closed.paths))
    for (const { responses } of Object.values(operations))
      for (const { content } of Object.values(responses))
        for (const type of Object.values(content ?? {})) type.schema = close(type.schema);
  // The root of a component stays open: another schema may extend it.
  closed.components.schemas = mapped(closed.components.schemas, (schema) => close(schema, true));
  return closed;
}
