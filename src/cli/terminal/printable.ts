/** Names and reasons are people's to choose, and a terminal obeys control characters. */
export const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

/** The same of lines that stay lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** The same of a text that may have several lines, on one line. */
export const onOneLine = (text: string): string => printable(text.replace(/\s+/gu, ' ').trim());

/** A value as JSON on a line of its own. Control characters that JSON allows, and terminals obey, are escaped. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\p{Cc}\p{Cf}]/gu, escaped)}\n`;

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
