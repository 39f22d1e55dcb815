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
