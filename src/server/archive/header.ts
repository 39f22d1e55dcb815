// The format. An archive is a gzip file of lines, each of which ends with a line feed:
//   1. the header, as JSON;
//   2. for each table of the header its rows, each as PostgreSQL's own JSON (`row_to_json`), in the order of the primary
//      key, and then `{"table": name, "sha256": of the lines of its rows}`;
//   3. `{"end": sha256 of all lines before}`.
// Nobody parses a row: PostgreSQL writes it and reads it, so that every value comes back exactly.
import { createHash } from 'node:crypto';
import * as z from 'zod';

/** Rises when older versions cannot read what this one writes. */
export const format = 1 as const;

const table = z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number() });

/** A waiting job as `Job` has it, and when it is due. */
const job = z.object({
  task: z.string(),
  key: z.string(),
  about: z.string(),
  data: z.record(z.string(), z.unknown()),
  attempt: z.number(),
  at: z.iso.datetime(),
});

const header = z.object({
  format: z.literal(format),
  /** Of Holdfast. */
  version: z.string(),
  madeAt: z.iso.datetime(),
  /** Names of those that the database had. */
  migrations: z.array(z.string()),
  tables: z.array(table),
  /** The last number that was given out, by `table.column`. */
  sequences: z.record(z.string(), z.string().regex(/^\d+$/)),
  /** Repositories that a job of the queue was about. */
  unsettled: z.array(z.string().regex(/^\d+$/)),
  /** Those that nothing sends again. The first version carried none. */
  jobs: z.array(job).default([]),
});

export type Table = z.infer<typeof table>;
export type WaitingJob = z.infer<typeof job>;
export type Header = z.infer<typeof header>;

/** @returns null where the line is no header; the format where it is one of a newer version. */
export function readHeader(line: string): Header | number | null {
  const read = parse(line);
  const { format: given } = (read ?? {}) as { format?: unknown };
  if (typeof given === 'number' && given > format) return given;
  return header.safeParse(read).data ?? null;
}

export const tableEnd = (name: string, sha256: string): string => JSON.stringify({ table: name, sha256 });
export const lastLine = (sha256: string): string => JSON.stringify({ end: sha256 });

/** The SHA-256 of lines, each with its line feed. */
export function sumOfLines(): { add(lines: string[]): void; sha256(): string } {
  const hash = createHash('sha256');
  return {
    add: (lines) => void (lines.length > 0 && hash.update(`${lines.join('\n')}\n`)),
    sha256: () => hash.digest('hex'),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
