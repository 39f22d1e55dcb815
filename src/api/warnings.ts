import { nearestNames } from '../conditions/suggest-names.ts';

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
const mostNamed = 10;
/** No field has a longer name, so longer names get no suggestion. */
const longest = 60;

/**
 * Names the unknown fields of a body. Clients expect that they are accepted. They do nothing.
 * @param fields the fields that a body may have. @param answered the fields of the answer, which clients may send back.
 * @param of what the body describes: `a freeze`.
 * @returns a sentence for each field.
 */
export function unknownFields(body: object, fields: string[], answered: string[], of: string): string[] {
  const unknown = Object.keys(body).filter((name) => !fields.includes(name) && !answered.includes(name));
  const more = unknown.length - mostNamed;
  return [
    ...unknown.slice(0, mostNamed).map((name) => sentence(name, fields, of)),
    ...(more > 0 ? [`The body has ${more} more fields that are not fields of ${of}.`] : []),
  ];
}

function sentence(name: string, fields: string[], of: string): string {
  const near = name.length <= longest ? nearestNames(name, fields) : [];
  const shown = name.length <= longest ? name : `${name.slice(0, longest - 1)}…`;
  const what = `\`${shown}\` is not a field of ${of}`;
  if (near.length === 0) return `${what}, so it does nothing. Leave it out.`;
  return `${what}: did you mean ${near.map((field) => `\`${field}\``).join(' or ')}?`;
}
