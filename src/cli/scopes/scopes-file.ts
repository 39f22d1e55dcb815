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
import { longestScope, mostScopes } from '../../conditions/scope-limits.ts';
import { compilePathTest, UselessPattern } from './path-test.ts';

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

const example = 'Write, for example:\nscopes:\n  docs:\n    - docs/**';
const fields = ['scopes', 'all_scopes'];

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
    if (!isMap(top)) return this.#refuse(top, `The file does not name scopes. ${example}`);
    const found = new Map(top.items.map((pair) => [this.#nameOf(pair), pair] as const));
    for (const [name, { key }] of found)
      if (!fields.includes(name))
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
      return this.#refuse(pair?.key, `scopes names no scope. ${example}`);
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
