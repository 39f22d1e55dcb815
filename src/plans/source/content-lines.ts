import { TextDecoder } from 'node:util';
import { shownLine } from './calendar-objects.ts';
import { SourceUnreadable } from './source-window.ts';

/** A line of an iCalendar file, without its folds. @property at the number of its first line in the file. */
export type ContentLine = { at: number; text: string };

const byteOrderMarks: [string, string][] = [
  ['\u00EF\u00BB\u00BF', 'utf-8'],
  ['\u00FF\u00FE', 'utf-16le'],
  ['\u00FE\u00FF', 'utf-16be'],
];

/**
 * The lines of an iCalendar file (RFC 5545, 3.1), also with a byte order mark and blanks before the first one.
 * @param charset what the answer said; null if it said nothing, which means UTF-8.
 * @throws SourceUnreadable for what does not go from BEGIN:VCALENDAR to END:VCALENDAR.
 */
export function contentLines(bytes: Uint8Array, charset: string | null): ContentLine[] {
  const octets = octetsOf(bytes, charset);
  const lines: ContentLine[] = [];
  let at = 0;
  let isQuoted = false;
  let physical = '';
  // A fold may stand inside a character, so folds go before characters are read.
  for (const line of octets.text.split('\n')) {
    at += 1;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    const before = lines.at(-1);
    if (before && /^[ \t]/.test(text)) before.text += text.slice(1);
    // The other fold: a line of quoted-printable text that ends with `=` goes on in the next one.
    else if (before && isQuoted && physical.endsWith('=')) before.text = before.text.slice(0, -1) + text;
    else if (text.trim() !== '') {
      lines.push({ at, text: lines.length === 0 ? text.trimStart() : text });
      isQuoted = /^[\w-]+;[^:]*QUOTED-PRINTABLE/i.test(text);
    }
    physical = text;
  }
  const [first, last] = [lines[0], lines.at(-1)];
  // What breaks off in the middle would delete freezes.
  if (!/^BEGIN:VCALENDAR\s*$/i.test(first?.text ?? '') || !/^END:VCALENDAR\s*$/i.test(last?.text ?? ''))
    throw new SourceUnreadable('is not an iCalendar file (BEGIN:VCALENDAR to END:VCALENDAR)');
  for (const line of lines) line.text = octets.decode(line.text);
  return lines;
}

/** The bytes of a file, one character each, and how such characters are read. */
function octetsOf(
  bytes: Uint8Array,
  charset: string | null,
): { text: string; decode(octets: string): string } {
  const text = Buffer.from(bytes).toString('latin1');
  const [mark, marked] = byteOrderMarks.find(([each]) => text.startsWith(each)) ?? ['', null];
  const decoder = decoderOf(marked ?? charset ?? 'utf-8');
  const rest = text.slice(mark.length);
  if (decoder.encoding.startsWith('utf-16'))
    return { text: decoder.decode(Buffer.from(rest, 'latin1')), decode: (octets) => octets };
  // eslint-disable-next-line no-control-regex -- what is not ASCII
  const isAscii = (octets: string) => /^[\u0000-\u007F]*$/.test(octets);
  return {
    text: rest,
    decode: (octets) => (isAscii(octets) ? octets : decode(decoder, Buffer.from(octets, 'latin1'))),
  };
}

/** Bytes as a text. @throws SourceUnreadable for a charset that nobody knows. */
export const decodeOctets = (octets: Buffer, charset: string): string => decode(decoderOf(charset), octets);

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset.trim().replaceAll('"', ''), { fatal: true, ignoreBOM: true });
  } catch {
    throw new SourceUnreadable(`has the charset ${shownLine(charset)}, which nobody here can read`);
  }
}

/** Old programs write their own letters and say nothing: the web reads those so, too. */
function decode(decoder: TextDecoder, octets: Buffer): string {
  try {
    return decoder.decode(octets);
  } catch {
    return new TextDecoder('windows-1252').decode(octets);
  }
}
