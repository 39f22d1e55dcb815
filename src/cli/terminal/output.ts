import { once } from 'node:events';
import type { World } from '../world.ts';
import { paintFor } from './colours.ts';
import { jsonLine, printable, printableLines } from './printable.ts';
import { alignedTable, type Cell, plainTable } from './table.ts';

/** What a command says: results to standard output, the rest to standard error. */
export type Output = {
  isJson: boolean;
  /** For people a line, of parts that may tell a state; nothing where JSON was asked for. */
  line(...parts: Cell[]): void;
  /** For people columns under a head, for programs tabs; nothing where JSON was asked for. */
  table(head: string[], rows: Cell[][]): void;
  /** One JSON value on a line, where JSON was asked for. */
  json(value: unknown): void;
  /** Said beside the result, also where JSON was asked for. */
  note(text: string): void;
  /** Waits until what was said is on its way. */
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
