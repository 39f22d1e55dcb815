import { onOneLine } from './printable.ts';
import type { Paint, Tone } from './colours.ts';

/** A cell: its text, and the state that it shows. */
export type Cell = string | { text: string; tone: Tone };

const textOf = (cell: Cell): string => onOneLine(typeof cell === 'string' ? cell : cell.text);

/** Aligned columns, for people. @param head the names of the columns. */
export function alignedTable(head: string[], rows: Cell[][], paint: Paint): string[] {
  const texts = rows.map((row) => row.map(textOf));
  const widths = head.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => widthOf(row[column]!))),
  );
  const pad = (text: string, column: number) =>
    column === head.length - 1 ? text : text + ' '.repeat(widths[column]! - widthOf(text));
  const lines = rows.map((row, at) =>
    row.map((cell, column) => {
      const padded = pad(texts[at]![column]!, column);
      return typeof cell === 'string' ? padded : paint(padded, cell.tone);
    }),
  );
  return [head.map((name, column) => paint(pad(name, column), 'quiet')), ...lines].map((cells) =>
    cells.join('  ').trimEnd(),
  );
}

/** A line for each row, with tabs between its cells, for programs such as cut. */
export const plainTable = (rows: Cell[][]): string[] => rows.map((row) => row.map(textOf).join('\t'));

/** The approximate width of a text in a terminal: East Asian letters and emoji take two columns. */
const widthOf = (text = ''): number =>
  [...text].reduce((sum, letter) => sum + (/\p{M}/u.test(letter) ? 0 : isWide.test(letter) ? 2 : 1), 0);
const isWide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
