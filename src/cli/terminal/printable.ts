/** Names and reasons are people's to choose, and a terminal obeys control characters. */
export const printable = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

/** The same of lines that stay lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** The same of a text that may have several lines, on one line. */
export const onOneLine = (text: string): string => printable(text.replace(/\s+/gu, ' ').trim());
