/** RFC 7234: a persistent warning that fits no other code. */
const miscellaneous = 299;

/**
 * The `Warning` header with these texts; none without them. What is not printable ASCII is percent-encoded: names are
 * people's to choose.
 */
export function warningHeader(texts: string[]): Record<string, string> {
  if (texts.length === 0) return {};
  return { Warning: texts.map(warningValue).join(', ') };
}

function warningValue(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]+/g, (other) => encodeURIComponent(other.toWellFormed()));
  return `${miscellaneous} holdfast "${ascii.replace(/["\\]/g, '\\$&')}"`;
}
