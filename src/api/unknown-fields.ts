import { nearestNames } from '../conditions/suggest-names.ts';

/** Nobody reads more, and a body may have thousands. */
const mostNamed = 10;
/** No field has so long a name; longer ones are near to none. */
const longest = 60;

/**
 * Says which fields of a body nobody knows. They are accepted, as clients expect, and do nothing.
 * @param fields those that a body may have; @param answered those of its answer, which clients send back.
 * @param of what the body is of: `a freeze`.
 * @returns a sentence each.
 */
export function unknownFields(body: object, fields: string[], answered: string[], of: string): string[] {
  const unknown = Object.keys(body).filter((name) => !fields.includes(name) && !answered.includes(name));
  const more = unknown.length - mostNamed;
  return [
    ...unknown.slice(0, mostNamed).map((name) => sentence(name, fields, of)),
    ...(more > 0 ? [`The body has ${more} more that are not fields of ${of}.`] : []),
  ];
}

function sentence(name: string, fields: string[], of: string): string {
  const near = name.length <= longest ? nearestNames(name, fields) : [];
  const shown = name.length <= longest ? name : `${name.slice(0, longest - 1)}…`;
  const what = `\`${shown}\` is not a field of ${of}`;
  if (near.length === 0) return `${what}, so it does nothing. Leave it out.`;
  return `${what}: did you mean ${near.map((field) => `\`${field}\``).join(' or ')}?`;
}
