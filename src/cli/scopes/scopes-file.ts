import { ParseError } from '../../conditions/scanner.ts';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import type { TextTest } from '../../conditions/ast.ts';
import { compileGlob } from '../../conditions/patterns/compile-glob.ts';
import { longestScope, mostScopes } from '../../conditions/scope-limits.ts';

/** The content of `scopes.yml`: the paths of each scope, and the paths that touch everything. */
export type ScopesFile = { scopes: Map<string, TextTest>; allScopes: TextTest };

/** The file is not a valid file of scopes. The message names file, line and field, and says what to write. */
export class ScopesFileError extends Error {
  /** From 1. */
  readonly line: number;
  constructor(path: string, line: number, message: string) {
    super(`${path}:${line}: ${message}`);
    this.line = line;
  }
}

const exampleScopes = 'Write, for example:\nscopes:\n  docs:\n    - docs/**';
const scopesFields = ['scopes', 'all_scopes'];

/**
 * Reads a file of scopes. schemas/scopes.schema.json is the same for editors.
 * @param path to name in errors.
 * @throws ScopesFileError
 */
export function readScopesFile(text: string, path: string): ScopesFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const fail = (offset: number, message: string): never => {
    throw new ScopesFileError(path, Math.max(1, lines.linePos(offset).line), message);
  };
  const [error] = document.errors;
  if (error) fail(error.pos[0], `${error.message}. ${remedies[error.code] ?? quotes}`);
  return new Reader(document, fail).read();
}

const quotes = 'Write patterns in quotes if they have characters that mean something in YAML.';
const remedies: Record<string, string> = {
  DUPLICATE_KEY: 'Put the patterns of a scope into one list.',
  TAB_AS_INDENT: 'Indent with spaces.',
  MULTIPLE_DOCS: 'Remove the line ---.',
};

/** Reads the nodes of a document, each with its place. */
class Reader {
  readonly #document: Document;
  readonly #fail: (offset: number, message: string) => never;

  constructor(document: Document, fail: (offset: number, message: string) => never) {
    this.#document = document;
    this.#fail = fail;
  }

  read(): ScopesFile {
    const top = this.#document.contents;
    if (!isMap(top)) return this.#refuse(top, `The file does not name scopes. ${exampleScopes}`);
    const found = new Map(top.items.map((pair) => [this.#nameOf(pair), pair] as const));
    for (const [name, { key }] of found)
      if (!scopesFields.includes(name))
        this.#refuse(
          key,
          `There is no field "${name}". Write scopes, with "${name}" below it, or all_scopes.`,
        );
    const scopes = this.#scopesOf(found.get('scopes'));
    const all = found.get('all_scopes');
    const allScopes = all ? this.#testOf(all.value, 'all_scopes') : () => false;
    return { scopes, allScopes };
  }

  #scopesOf(pair: Pair | undefined): Map<string, TextTest> {
    const named = this.#resolved(pair?.value);
    if (!isMap(named) || named.items.length === 0)
      return this.#refuse(pair?.key, `scopes names no scope. ${exampleScopes}`);
    if (named.items.length > mostScopes)
      this.#refuse(named.items[mostScopes]!.key, `scopes names more than ${mostScopes} scopes. Join some.`);
    return new Map(
      named.items.map((pair) => {
        const name = this.#nameOf(pair);
        if (name === '' || [...name].length > longestScope)
          this.#refuse(pair.key, `The name of a scope has 1 to ${longestScope} characters. Choose another.`);
        return [name, this.#testOf(pair.value, `scopes.${name}`)];
      }),
    );
  }

  #testOf(value: unknown, field: string): TextTest {
    const list = this.#resolved(value, field);
    const nodes: unknown[] = isSeq(list) ? list.items : [list];
    if (nodes.length === 0) return this.#refuse(list, `${field} has no pattern. Write one, or remove it.`);
    const patterns = nodes.map((node, index) => {
      const pattern = this.#resolved(node, field);
      if (isScalar(pattern) && typeof pattern.value === 'string') return pattern.value;
      const place = isSeq(list) ? `${field}[${index}]` : field;
      return this.#refuse(pattern ?? list, `${place} is not a text. Write a pattern, in quotes: 'src/**'.`);
    });
    try {
      return compilePathTest(patterns);
    } catch (error) {
      if (!(error instanceof UselessPattern)) throw error;
      const place = isSeq(list) ? `${field}[${error.index}]` : field;
      return this.#refuse(nodes[error.index], `${place}: ${error.message}`);
    }
  }

  #nameOf({ key }: Pair): string {
    const name = this.#resolved(key);
    if (isScalar(name) && typeof name.value === 'string') return name.value;
    return this.#refuse(key, 'A name is a text. Write it in quotes.');
  }

  /** The value of an alias. For YAML, a bare `*` or `!` is an alias or a tag, but people mean a pattern. */
  #resolved(node: unknown, field = 'This'): unknown {
    const unquoted = (text: string) =>
      this.#refuse(node, `${field} needs quotes: YAML reads a bare ${text[0]}. Write '${text}'.`);
    if (isAlias(node)) {
      const stands = node.resolve(this.#document);
      return stands && !isAlias(stands) ? stands : unquoted(`*${node.source}`);
    }
    const { tag } = (node ?? {}) as { tag?: string };
    if (tag?.startsWith('!')) return unquoted(tag);
    if (tag) return this.#refuse(node, `${field} has a tag. Write a text in quotes.`);
    return node;
  }

  #refuse(node: unknown, message: string): never {
    return this.#fail((node as Node | null | undefined)?.range?.[0] ?? 0, message);
  }
}

/** A pattern that no path can match, or that is misleading. The message says why, and what to write. */
class UselessPattern extends Error {
  /** The index of the pattern, from 0. */
  readonly index: number;
  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * Whether these patterns match a path of the repository. They are globs, as in conditions, in order. A pattern that
 * begins with `!` excludes paths that earlier patterns match. The last pattern that matches a path decides.
 * @throws UselessPattern
 */
export function compilePathTest(patterns: string[]): TextTest {
  const rules = patterns.map((pattern, index) => {
    const isExclude = pattern.startsWith('!');
    const glob = isExclude ? pattern.slice(1) : pattern;
    const problem = isExclude && index === 0 ? nothingBefore(pattern) : problemOf(glob);
    if (problem) throw new UselessPattern(index, problem);
    return { isExclude, test: compiled(glob, index) };
  });
  const latestFirst = rules.toReversed();
  return (path) => {
    const rule = latestFirst.find(({ test }) => test(path));
    return rule !== undefined && !rule.isExclude;
  };
}

function compiled(glob: string, index: number): TextTest {
  try {
    return compileGlob(glob);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new UselessPattern(index, `"${glob}": ${error.message}.`);
  }
}

const nothingBefore = (pattern: string): string =>
  `"${pattern}" comes first, so there is nothing for it to exclude. Write what is included before it, such as '**'.`;

/** Why no path can match a glob, or why it is misleading; null for a good one. */
function problemOf(glob: string): string | null {
  const says = (why: string, write: string) => `"${glob}" ${why}. Write ${write}.`;
  if (glob === '') return 'A pattern is empty. Write one such as src/**, or remove the line.';
  if (glob.startsWith('!')) return says('begins with a second !', `one ! to exclude`);
  if (glob.trim() !== glob) return says('begins or ends with a space', `"${glob.trim()}"`);
  if (/^\.{0,2}\//.test(glob)) {
    const below = glob.replace(/^(?:\.{0,2}\/)+/, '');
    return says('begins outside of the repository: paths begin at its root', below || '**');
  }
  if (/\\(?![{},])/.test(glob)) return says('has a backslash', '/ between folders, on Windows too');
  if (glob.endsWith('/')) return says('names a folder, and only files change', `${glob}**`);
  if (glob.includes('//')) return says('has an empty folder name', 'one / between folders');
  const joined = glob.split('/').find((part) => part !== '**' && /\*\*/.test(part));
  if (joined !== undefined)
    return says(
      'has ** beside other characters, where it does not reach into folders',
      `**/ before, such as **/${joined.replace(/\*\*+/g, '*')}`,
    );
  return null;
}

/** What changed paths touch: each scope with its paths, in the order of the file, and the paths that touch everything. */
export type TouchedScopes = { scopes: Map<string, string[]>; all: string[] };

/** @param paths that changed, from the root of the repository, with `/` between folders. */
export function touchedScopes(file: ScopesFile, paths: string[]): TouchedScopes {
  const scopes = [...file.scopes].map(([name, test]) => [name, paths.filter(test)] as const);
  return {
    scopes: new Map(scopes.filter(([, touching]) => touching.length > 0).map(([name, its]) => [name, its])),
    all: paths.filter(file.allScopes),
  };
}
