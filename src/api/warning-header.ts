/** RFC 7234: a persistent warning that fits no other code. */
const miscellaneous = 299;

/** The `Warning` header with a text. What is not printable ASCII is percent-encoded: names are people's to choose. */
export function warningHeader(text: string): Record<string, string> {
  const ascii = text.replace(/[^\x20-\x7e]+/g, (other) => encodeURIComponent(other.toWellFormed()));
  return { Warning: `${miscellaneous} holdfast "${ascii.replace(/["\\]/g, '\\$&')}"` };
}
