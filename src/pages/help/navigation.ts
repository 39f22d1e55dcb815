import { Lexer, type Token, type Tokens } from 'marked';
import { type Address, documentAt, overviewName } from './address.ts';
import { textOf } from './text-of.ts';

/** What somebody wants to do, and the documents that help with it, in the order of docs/README.md. */
export type Topic = { want: string; documents: NavigationEntry[] };
export type NavigationEntry = {
  /** Of the document: `install` is docs/install.md. */
  name: string;
  title: string;
};

/**
 * The topics of docs/README.md: each heading of the second level is one, and each item of its lists that begins with
 * a link to a document is an entry. So that page, the start page of `/help` and the menu are one list.
 */
export function readNavigation(overview: string): Topic[] {
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
