// The format. An archive is a gzip file of lines, each of which ends with a line feed:
//   1. the header, as JSON;
//   2. for each table of the header its rows, each as PostgreSQL's own JSON (`row_to_json`), in the order of the primary
//      key, and then `{"table": name, "sha256": of the lines of its rows}`;
//   3. `{"end": sha256 of all lines before}`.
// Nobody parses a row: PostgreSQL writes it and reads it, so that every value comes back exactly.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import * as z from 'zod';
import { parseJson } from '../../cli/service/service.ts';

/** An archive cannot be written or imported. Nothing was changed; the message says what to do next. */
export class ArchiveRefused extends Error {}

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
  lane: z.string().optional(),
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

export type ArchiveTable = z.infer<typeof table>;
export type WaitingJob = z.infer<typeof job>;
export type Header = z.infer<typeof header>;

/** @returns null if the line is no header; the format if it is one of a newer version. */
function readHeader(line: string): Header | number | null {
  const read = parseJson(line);
  const { format: given } = (read ?? {}) as { format?: unknown };
  if (typeof given === 'number' && given > format) return given;
  return header.safeParse(read).data ?? null;
}

const tableEnd = (name: string, sha256: string): string => JSON.stringify({ table: name, sha256 });
export const lastLine = (sha256: string): string => JSON.stringify({ end: sha256 });

/** The SHA-256 of lines, each with its line feed. */
export function sumOfLines(): { add(lines: string[]): void; sha256(): string } {
  const hash = createHash('sha256');
  return {
    add: (lines) => void (lines.length > 0 && hash.update(`${lines.join('\n')}\n`)),
    sha256: () => hash.digest('hex'),
  };
}

/** The content of an archive. @param rowsOf the rows of a table, in batches. @param onTable is called after its rows. */
export async function* archiveOf(
  header: Header,
  rowsOf: (table: ArchiveTable) => AsyncIterable<string[]>,
  onTable: (table: ArchiveTable) => void,
): AsyncGenerator<string> {
  const all = sumOfLines();
  const written = (lines: string[]): string => {
    all.add(lines);
    return `${lines.join('\n')}\n`;
  };
  yield written([JSON.stringify(header)]);
  for (const table of header.tables) {
    const sum = sumOfLines();
    for await (const rows of rowsOf(table)) {
      sum.add(rows);
      yield written(rows);
    }
    yield written([tableEnd(table.name, sum.sha256())]);
    onTable(table);
  }
  yield `${lastLine(all.sha256())}\n`;
}

/** Rows that are handed on together: so many, or so many characters. */
const mostRows = 500;
const mostBatchCharacters = 100_000;

/** What is done with an archive while it is read. */
type Reader = {
  /** Before any rows. */
  begin?(header: Header): Promise<void>;
  /** With the rows of a table, a batch at a time. */
  take(table: ArchiveTable, rows: string[]): void | Promise<void>;
  /** After the rows of a table. */
  end?(table: ArchiveTable): void;
};

export type Archive = { header: Header; sums: Map<string, string>; sha256: string };

/**
 * Reads an archive to its end and checks all of it: whether it is whole, and as it was written.
 * @throws ArchiveRefused if it is no archive, of a newer format, cut or changed.
 */
export async function readArchive(file: string, { begin, take, end }: Reader): Promise<Archive> {
  const lines = linesIn(file);
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw damaged(file, 'it ends too early');
    return value;
  };
  const all = sumOfLines();
  const first = await next();
  const header = readHeader(first);
  if (header === null) throw new ArchiveRefused(`${file} is not an export of Holdfast. Name one.`);
  if (typeof header === 'number')
    throw new ArchiveRefused(
      `A newer Holdfast wrote ${file}, in format ${header}. Import it with that version.`,
    );
  await begin?.(header);
  all.add([first]);
  const sums = new Map<string, string>();
  for (const table of header.tables) {
    const sum = sumOfLines();
    let batch: string[] = [];
    let characters = 0;
    const hand = async () => {
      sum.add(batch);
      all.add(batch);
      await take(table, batch);
      [batch, characters] = [[], 0];
    };
    for (let row = 0; row < table.rows; row++) {
      const line = await next();
      batch.push(line);
      characters += line.length;
      if (batch.length === mostRows || characters > mostBatchCharacters) await hand();
    }
    if (batch.length > 0) await hand();
    const sha256 = sum.sha256();
    const last = tableEnd(table.name, sha256);
    if ((await next()) !== last)
      throw damaged(file, `the rows of ${table.name} are not those that were written`);
    all.add([last]);
    sums.set(table.name, sha256);
    end?.(table);
  }
  const sha256 = all.sha256();
  if ((await next()) !== lastLine(sha256)) throw damaged(file, 'its content is not what was written');
  if (!(await lines.next()).done) throw damaged(file, 'something follows its end');
  return { header, sums, sha256 };
}

const damaged = (file: string, how: string): ArchiveRefused =>
  new ArchiveRefused(`${file} is damaged: ${how}. Copy it again from where it was made, or export again.`);

async function* linesIn(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const content = source.pipe(createGunzip());
  source.once('error', (error) => content.destroy(error));
  let rest: Buffer[] = [];
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
        const line = chunk.subarray(from, at);
        yield rest.length > 0 ? Buffer.concat([...rest, line]).toString() : line.toString();
        rest = [];
        from = at + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_')) throw damaged(file, message);
    if (code === 'ENOENT') throw new ArchiveRefused(`There is no file ${file}.`);
    throw error;
  } finally {
    source.destroy();
  }
  if (rest.length > 0) throw damaged(file, 'its last line is cut');
}
