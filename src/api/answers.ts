// What handlers answer with beside a body: headers, links to pages, and warnings.
import { z } from '@hono/zod-openapi';
import { nearestNames } from '../conditions/suggest-names.ts';
import { invalid } from '../errors.ts';
import { cutText } from '../cut-text.ts';

/** A handler returns this if it sets headers. Any other result is the body. */
export class HandlerAnswer {
  readonly body: unknown;
  readonly headers: Record<string, string>;
  constructor(body: unknown, headers: Record<string, string>) {
    this.body = body;
    this.headers = headers;
  }
}

/**
 * The fields of a schema, from a record that has them in camel case: instants as texts, and 64-bit integers as numbers.
 * Leaves out what the record does not have.
 */
export function fieldsOfSchema<Schema extends z.ZodObject>(
  { shape }: Schema,
  record: object,
): z.input<Schema> {
  const values = record as Record<string, unknown>;
  const fields = Object.keys(shape).map((name) => [name, inJson(values[inCamelCase(name)])] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as z.input<Schema>;
}

const inCamelCase = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function inJson(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'bigint' ? Number(value) : value;
}

/** A record with its names in camel case, as functions take them. */
export const camelCased = (record: object): object =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [inCamelCase(name), value]));

const mostOnPage = 100;
const oneToMost = `Send a whole number from 1 to ${mostOnPage}.`;

/** `per_page` and `cursor`, which every paged list takes. */
export const pagingQuery = (defaultSize: number) => ({
  per_page: z
    .string()
    .regex(/^[1-9]\d*$/, oneToMost)
    .refine((digits) => Number(digits) <= mostOnPage, oneToMost)
    .default(String(defaultSize))
    .transform(Number)
    .openapi({ type: 'integer', minimum: 1, maximum: mostOnPage, default: defaultSize }),
  cursor: z.string().max(100).optional(),
});

/** The documented headers of a paged list. */
export const pagingHeaders = {
  Link: 'Links to the previous and next pages (RFC 8288), with absolute URLs. Absent if there is only one page. Use the links as they are: the cursor is opaque.',
};

/** The description of a list with both links. */
export const pagesAreLinked = 'Pages are linked by the `Link` header (`next`, `prev`).';

/** A page of a list. @param url of the request; @param cursors of the pages beside it, null if there is none. */
export const pageAnswer = (
  url: string,
  body: object,
  { next, prev }: { next: string | null; prev: string | null },
) => new HandlerAnswer(body, linkHeader(url, { next, prev }));

/** A `Link` header with the same query at other cursors. Existing clients need absolute URLs. */
export function linkHeader(url: string, cursors: Record<string, string | null>): Record<string, string> {
  const links = Object.entries(cursors).flatMap(([rel, cursor]) =>
    cursor === null ? [] : [`<${withCursor(url, cursor)}>; rel="${rel}"`],
  );
  return links.length > 0 ? { Link: links.join(', ') } : {};
}

function withCursor(url: string, cursor: string): string {
  const target = new URL(url);
  target.searchParams.set('cursor', cursor);
  return target.href;
}

/**
 * A page of a list that is short enough to read as a whole. A cursor is the id of the first item of its page, so that new
 * items at the end do not move the pages.
 * @param what an item, in a word. @throws Refusal invalid for a cursor that is of no item.
 */
export function pageByIds<Item extends { id: string }>(
  all: Item[],
  { cursor, per_page: size }: { cursor?: string; per_page: number },
  what: string,
): { items: Item[]; cursors: Record<'next' | 'prev', string | null> } {
  const at = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor);
  if (at === -1) {
    const message = `This cursor is of no ${what} in this list. Leave it out to start at the oldest ${what}.`;
    throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
  }
  const prev = at > 0 ? all[Math.max(0, at - size)]!.id : null;
  return { items: all.slice(at, at + size), cursors: { next: all[at + size]?.id ?? null, prev } };
}

/** RFC 7234's code for a persistent warning without a code of its own. */
const miscellaneous = 299;

/**
 * The `Warning` header with these texts; no header if there are none. Percent-encodes everything but printable ASCII,
 * because people choose names freely.
 */
export function warningHeader(texts: string[]): Record<string, string> {
  if (texts.length === 0) return {};
  return { Warning: texts.map(warningValue).join(', ') };
}

function warningValue(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]+/g, (other) => encodeURIComponent(other.toWellFormed()));
  return `${miscellaneous} holdfast "${ascii.replace(/["\\]/g, '\\$&')}"`;
}

/** How many unknown fields are named. A body may have thousands. */
const mostFieldsNamed = 10;
/** No field has a longer name, so longer names get no suggestion. */
const longestFieldName = 60;

/**
 * Names the unknown fields of a body. Clients expect that they are accepted. They do nothing.
 * @param fields the fields that a body may have. @param answered the fields of the answer, which clients may send back.
 * @param of what the body describes: `a freeze`.
 * @returns a sentence for each field.
 */
export function unknownFields(body: object, fields: string[], answered: string[], of: string): string[] {
  const unknown = Object.keys(body).filter((name) => !fields.includes(name) && !answered.includes(name));
  const more = unknown.length - mostFieldsNamed;
  return [
    ...unknown.slice(0, mostFieldsNamed).map((name) => fieldSentence(name, fields, of)),
    ...(more > 0 ? [`The body has ${more} more fields that are not fields of ${of}.`] : []),
  ];
}

function fieldSentence(name: string, fields: string[], of: string): string {
  const near = name.length <= longestFieldName ? nearestNames(name, fields) : [];
  const what = `\`${cutText(name, longestFieldName)}\` is not a field of ${of}`;
  if (near.length === 0) return `${what}, so it does nothing. Leave it out.`;
  return `${what}: did you mean ${near.map((field) => `\`${field}\``).join(' or ')}?`;
}
