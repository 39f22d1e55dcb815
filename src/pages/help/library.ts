import { readdir, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Lexer, type Token, type Tokens } from 'marked';
import { docsFolder, overviewName, type Address, documentAt } from './address.ts';
import { type HelpDocument, renderDocument, textOf } from './render-document.ts';
import { type Search, searchDocuments } from './search-documents.ts';

/** The documents of this version, as they are served. */
export type Library = {
  topics: Topic[];
  /** By name; docs/README.md is {@link overviewName}. */
  documents: ReadonlyMap<string, HelpDocument>;
  search: Search;
};

/** Reads and renders docs/*.md: some hundred milliseconds, in pieces, so that other requests are answered meanwhile. */
export async function readLibrary(): Promise<Library> {
  const files = (await readdir(docsFolder)).filter((file) => file.endsWith('.md')).toSorted();
  const names = new Set(files.map((file) => file.slice(0, -'.md'.length)));
  const documents = new Map<string, HelpDocument>();
  let topics: Topic[] = [];
  for (const name of names) {
    const markdown = await readFile(new URL(`${name}.md`, docsFolder), 'utf8');
    if (name === overviewName) topics = readNavigation(markdown);
    documents.set(name, renderDocument(name, markdown, names));
    await setImmediate();
  }
  // docs/README.md says nothing but where the others are.
  const listed = topics.flatMap((topic) => topic.documents.flatMap(({ name }) => documents.get(name) ?? []));
  return { topics, documents, search: await searchDocuments(listed) };
}

/** What somebody wants to do, and the documents that help with it, in the order of docs/README.md. */
export type Topic = { want: string; documents: NavigationEntry[] };
type NavigationEntry = {
  /** Of the document: `install` is docs/install.md. */
  name: string;
  title: string;
};

/**
 * The topics of docs/README.md: each heading of the second level is one, and each item of its lists that begins with
 * a link to a document is an entry. So that page, the start page of `/help` and the menu are one list.
 */
function readNavigation(overview: string): Topic[] {
  const topics: Topic[] = [];
  for (const token of Lexer.lex(overview)) {
    if (isHeading(token) && token.depth === 2) topics.push({ want: textOf(token), documents: [] });
    if (isList(token)) topics.at(-1)?.documents.push(...token.items.flatMap(entryOf));
  }
  return topics;
}

function entryOf(item: Tokens.ListItem): NavigationEntry[] {
  const link = firstLink(item.tokens);
  const target: Address | null = link && documentAt(link.href, overviewName);
  return link && target ? [{ name: target.name, title: textOf(link) }] : [];
}

function firstLink(tokens: Token[]): Tokens.Link | null {
  const [first] = tokens;
  if (!first) return null;
  if (first.type === 'link') return first as Tokens.Link;
  return 'tokens' in first && first.tokens ? firstLink(first.tokens) : null;
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
const isList = (token: Token): token is Tokens.List => token.type === 'list';
