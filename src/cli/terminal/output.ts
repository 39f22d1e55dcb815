import { once } from 'node:events';
import type { World } from '../world.ts';
import { paintFor } from './colours.ts';
import { jsonLine, printable, printableLines } from './printable.ts';
import { alignedTable, type Cell, plainTable } from './table.ts';

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
      const lines = world.out.isTTY ? alignedTable(head, rows, paint) : plainTable(rows);
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
