import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { ArchiveRefused } from './archive-refused.ts';
import { type Header, lastLine, readHeader, sumOfLines, type Table, tableEnd } from './header.ts';

/** Rows that are handed on together: so many, or so many characters. */
const mostRows = 500;
const mostCharacters = 100_000;

/** What is done with an archive while it is read. */
export type Reader = {
  /** Before any rows. */
  begin?(header: Header): Promise<void>;
  /** With the rows of a table, a batch at a time. */
  take(table: Table, rows: string[]): void | Promise<void>;
  /** After the rows of a table. */
  end?(table: Table): void;
};

/** An archive that is whole: its header, and the SHA-256 of each table's rows and of all of it. */
export type Archive = { header: Header; sums: Map<string, string>; sha256: string };

/**
 * Reads an archive to its end and checks all of it: whether it is whole, and as it was written.
 * @throws ArchiveRefused where it is no archive, of a newer format, cut or changed.
 */
export async function readArchive(file: string, { begin, take, end }: Reader): Promise<Archive> {
  const lines = linesOf(file);
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
      if (batch.length === mostRows || characters > mostCharacters) await hand();
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

/** The lines of a compressed file. */
async function* linesOf(file: string): AsyncGenerator<string> {
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
