import { once } from 'node:events';
import { isId } from './target.ts';
import type { World } from './world.ts';

/** The output of a command: results to standard output, the rest to standard error. */
export type Output = {
  isJson: boolean;
  /** A line for people, from parts that can show a state. Prints nothing with `--json`. */
  line(...parts: Cell[]): void;
  /** Columns under a header for people, tabs for programs. Prints nothing with `--json`. */
  table(head: string[], rows: Cell[][]): void;
  /** One JSON value on a line, with `--json`. */
  json(value: unknown): void;
  /** A note beside the result, also with `--json`. */
  note(text: string): void;
  /** Waits until the output is written. */
  drained(): Promise<void>;
};

export function outputOf(world: World, isJson: boolean): Output {
  const paint = paintFor(world);
  const shown = (part: Cell) =>
    typeof part === 'string' ? printableLines(part) : paint(printable(part.text), part.tone);
  const print = (text: string) => void world.out.write(`${text}\n`);
  return {
    isJson,
    line(...parts) {
      if (!isJson) print(parts.map(shown).join(''));
    },
    table(head, rows) {
      if (isJson || rows.length === 0) return;
      const lines = world.out.isTTY ? alignedTable(head, rows, world.out.columns, paint) : plainTable(rows);
      for (const line of lines) print(line);
    },
    json(value) {
      if (isJson) world.out.write(jsonLine(value));
    },
    note(text) {
      world.err.write(`${printableLines(text)}\n`);
    },
    async drained() {
      if (world.out.writableNeedDrain) await once(world.out, 'drain');
    },
  };
}

/** The state that a colour shows, in addition to the word. */
type Tone = 'held' | 'free' | 'scheduled' | 'wrong' | 'quiet';

const codes: Record<Tone, string> = { held: '33', free: '32', scheduled: '36', wrong: '31', quiet: '2' };

type Paint = (text: string, tone: Tone) => string;

/** Colours, if the output is a terminal that has them and the person did not turn them off (https://no-color.org). */
function paintFor({ env, out }: Pick<World, 'env' | 'out'>): Paint {
  const isPainted = out.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  return (text, tone) => (isPainted ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text);
}

/** A cell: its text, and the state that it shows. */
export type Cell = string | { text: string; tone: Tone };

const cellText = (cell: Cell): string => onOneLine(typeof cell === 'string' ? cell : cell.text);

/**
 * Aligned columns, for people. What is too wide for the terminal is cut, except for IDs, which people copy: they move to
 * a line of their own.
 * @param head the names of the columns. @param most the columns of the terminal, if it says how many it has.
 */
function alignedTable(head: string[], rows: Cell[][], most = Infinity, paint: Paint): string[] {
  const texts = rows.map((row) => row.map(cellText));
  const wanted = head.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => widthOf(row[column]))),
  );
  const isTooWide = widthOfRow(wanted) > most;
  const last = head.length - 1;
  const isSplit = isTooWide && texts.every((row) => isId(row[last]!));
  const widths = fit(
    isSplit ? wanted.slice(0, last) : wanted,
    head.map(({ length }) => Math.max(length, shortest)),
    most,
  );
  const lineOf = (cells: string[], toneOf: (column: number) => Tone | null) =>
    widths
      .map((width, column) => {
        const text = cut(cells[column]!, width);
        const padded = column === widths.length - 1 ? text : text + ' '.repeat(width - widthOf(text));
        const tone = toneOf(column);
        return tone === null ? padded : paint(padded, tone);
      })
      .join('  ')
      .trimEnd();
  return [
    lineOf(head, () => 'quiet'),
    ...rows.flatMap((row, at) => {
      const line = lineOf(texts[at]!, (column) => toneOf(row[column]!));
      return isSplit ? [line, `  ${paint(texts[at]![last]!, 'quiet')}`] : [line];
    }),
  ];
}

const toneOf = (cell: Cell): Tone | null => (typeof cell === 'string' ? null : cell.tone);

/** The columns of a cell that may be cut. */
const shortest = 8;

/** Narrows the widest columns until the row fits, as far as each may be narrowed. */
function fit(widths: number[], least: number[], most: number): number[] {
  const fitted = [...widths];
  while (widthOfRow(fitted) > most) {
    const slack = fitted.map((width, column) => (width > least[column]! ? width : 0));
    const widest = slack.indexOf(Math.max(...slack));
    if (!slack[widest]) break;
    fitted[widest]!--;
  }
  return fitted;
}

/** With two columns between its cells. */
const widthOfRow = (widths: number[]): number =>
  widths.reduce((total, width) => total + width, 2 * (widths.length - 1));

/** The beginning of a text, with `…` in the place of the rest. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const letter of text) {
    if (widthOf(kept + letter) >= width) break;
    kept += letter;
  }
  return `${kept}…`;
}

/** A line for each row, with tabs between its cells, for programs such as cut. */
export const plainTable = (rows: Cell[][]): string[] => rows.map((row) => row.map(cellText).join('\t'));

/** The approximate width of a text in a terminal: East Asian letters and emoji take two columns. */
const widthOf = (text = ''): number =>
  [...text].reduce((sum, letter) => sum + (/\p{M}/u.test(letter) ? 0 : isWide.test(letter) ? 2 : 1), 0);
const isWide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

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
