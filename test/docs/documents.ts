import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A document of the repository. */
export const documentAt = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Rows of a Markdown table, cells trimmed, without its head. */
export function rowsOf(table: string): string[][] {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .replace(/^\||\|$/g, '')
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
  return rows.slice(2);
}

/** The part of a document between two texts. Fails if one of them is missing. */
export function between(document: string, from: string, to: string): string {
  const start = document.indexOf(from);
  const end = document.indexOf(to, start + from.length);
  if (start < 0 || end < 0) throw new Error(`The document lacks ${start < 0 ? from : to}`);
  return document.slice(start + from.length, end);
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every page of the documentation, by its path. */
export const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).toSorted();
