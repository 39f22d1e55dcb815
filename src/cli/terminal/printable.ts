/** People choose names and reasons, and a terminal obeys control characters, so this replaces them. */
export const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

/** The same, but keeps line breaks. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** The same, for a text with several lines, on one line. */
export const onOneLine = (text: string): string => printable(text.replace(/\s+/gu, ' ').trim());

/** A value as JSON on one line. Escapes control characters that JSON allows and terminals obey. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\p{Cc}\p{Cf}]/gu, escaped)}\n`;

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
