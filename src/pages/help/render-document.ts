import GithubSlugger from 'github-slugger';
import { Lexer, Parser, Renderer, type Token, Tokenizer, type Tokens } from 'marked';
import { documentAt, documentPath, overviewName, pictureAt } from './address.ts';

/** A heading, and what stands below it up to the next heading: what the search finds. */
export type HelpSection = {
  /** The `id` of the heading, as GitHub makes it. */
  anchor: string;
  heading: string;
  /** 1 is the title of the document. */
  depth: number;
  /** What it says, without marks. */
  text: string;
};

/** A document of docs/. */
export type HelpDocument = {
  name: string;
  title: string;
  /** What stands below the title. */
  html: string;
  sections: HelpSection[];
};

/**
 * Renders a document: links to other documents lead to `/help`, headings get the anchors of GitHub, and HTML in the
 * Markdown is shown as text, but for comments. A link to a file that is not served, such as one of the source code,
 * becomes its text.
 * @param served names of the documents that there are.
 */
export function renderDocument(name: string, markdown: string, served: ReadonlySet<string>): HelpDocument {
  const tokens = Lexer.lex(markdown, { gfm: true, tokenizer: new WrittenLinks() });
  const sections = sectionsOf(tokens);
  const html = Parser.parse(tokens, { gfm: true, renderer: new HelpRenderer(name, served) });
  return { name, title: sections[0]?.heading ?? name, html, sections };
}

function sectionsOf(tokens: Token[]): HelpSection[] {
  const slugger = new GithubSlugger();
  const sections: HelpSection[] = [];
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = textOfNode(token);
      const { depth } = token as Tokens.Heading;
      sections.push({ anchor: slugger.slug(heading), heading, depth, text: '' });
    } else {
      const section = sections.at(-1);
      const text = textOfNode(token).trim();
      if (section && text) section.text = section.text ? `${section.text} ${text}` : text;
    }
  }
  return sections;
}

/** An address in a text, such as `http://localhost:PORT`, is an example: only what is written as a link is one. */
class WrittenLinks extends Tokenizer {
  override url(): undefined {}
}

class HelpRenderer extends Renderer {
  readonly #name: string;
  readonly #served: ReadonlySet<string>;
  readonly #slugger = new GithubSlugger();

  constructor(name: string, served: ReadonlySet<string>) {
    super();
    this.#name = name;
    this.#served = served;
  }

  /** Without the title, which the page itself draws. */
  override heading({ tokens, depth, ...token }: Tokens.Heading): string {
    const anchor = this.#slugger.slug(textOfNode({ ...token, tokens, depth }));
    if (depth === 1) return '';
    const text = this.parser.parseInline(tokens);
    const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
    return `<h${depth} id="${anchor}">${text} ${link}</h${depth}>\n`;
  }

  override link({ href, title, tokens, ...token }: Tokens.Link): string {
    const text = this.parser.parseInline(tokens);
    const to = this.#addressOf(href);
    return to === null ? text : super.link({ ...token, tokens, title, href: to });
  }

  override image(token: Tokens.Image): string {
    const picture = pictureAt(token.href, this.#name);
    return picture === null
      ? escapeHtml(token.text)
      : `<img src="${picturePath(picture)}" alt="${escapeHtml(token.text)}" loading="lazy">`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escapeHtml(text.replace(/<!--.*?-->/gs, ''));
  }

  /** Wide tables scroll in a box of their own, for keyboards too. */
  override table(token: Tokens.Table): string {
    return `<div class="scroll" role="group" aria-label="Table" tabindex="0">${super.table(token)}</div>\n`;
  }

  #addressOf(href: string): string | null {
    if (/^https?:\/\//.test(href)) return href;
    const target = documentAt(href, this.#name);
    if (!target || !this.#served.has(target.name)) return null;
    return documentPath(target.name) + target.hash;
  }
}

const picturePath = (file: string): string => `/help/pictures/${file}`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What a piece of Markdown says, without its marks: cells and lines are set apart by spaces. Comments say nothing. */
function textOfNode(token: Token): string {
  switch (token.type) {
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return join([header, ...rows].flat().map((cell) => ofAll(cell.tokens)));
    }
    case 'list':
      return join((token as Tokens.List).items.map((item) => join(item.tokens.map(textOfNode))));
    case 'html':
    case 'def':
      return '';
    case 'br':
      return ' ';
    case 'image':
      return (token as Tokens.Image).text;
  }
  return 'tokens' in token && token.tokens ? ofAll(token.tokens) : 'text' in token ? token.text : '';
}

/** Inline pieces touch each other; blocks don't. */
const ofAll = (tokens: Token[]): string => tokens.map(textOfNode).join('');
const join = (texts: string[]): string => texts.filter((text) => text !== '').join(' ');

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
export function readNavigation(overview: string): Topic[] {
  const topics: Topic[] = [];
  for (const token of Lexer.lex(overview)) {
    if (isHeading(token) && token.depth === 2) topics.push({ want: textOfNode(token), documents: [] });
    if (isList(token)) topics.at(-1)?.documents.push(...token.items.flatMap(entryOf));
  }
  return topics;
}

function entryOf(item: Tokens.ListItem): NavigationEntry[] {
  const link = firstLink(item.tokens);
  const target = link && documentAt(link.href, overviewName);
  return link && target ? [{ name: target.name, title: textOfNode(link) }] : [];
}

function firstLink(tokens: Token[]): Tokens.Link | null {
  const [first] = tokens;
  if (!first) return null;
  if (first.type === 'link') return first as Tokens.Link;
  return 'tokens' in first && first.tokens ? firstLink(first.tokens) : null;
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
const isList = (token: Token): token is Tokens.List => token.type === 'list';
