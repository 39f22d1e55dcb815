import { readdir, readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { etag } from 'hono/etag';
import { html, raw } from 'hono/html';
import { readSession } from '../../auth/sign-in/sessions.ts';
import { version } from '../../cli/version.ts';
import { assetUrl, readOnce } from '../assets.ts';
import type { Html } from '../html.ts';
import { headersOfPages } from '../layout.ts';
import { showPage } from '../message-page.ts';
import { docsFolder, documentPath, overviewName } from './address.ts';
import type { HelpDocument, HelpSection, Topic } from './render-document.ts';
import type { Search } from './search-documents.ts';

/**
 * The routes below `/help`: the documentation of the version that runs, for everybody. It is read when somebody first
 * asks for it, and kept.
 * @param deps to show who is signed in; absent where nobody can be. Without a session, no page reads the database.
 */
export function helpRoutes(deps?: Parameters<typeof readSession>[0]): Hono {
  const library = readOnce(readLibrary);
  const help = new Hono();
  help.use(headersOfPages(), etag(), askedAgain);
  const readerOf = async (context: Context): Promise<Reader> => {
    // The documentation says what to do if the database does not answer.
    const viewer = deps && (await readSession(deps, context).catch(() => null));
    return { context, viewer };
  };
  const show = async (context: Context, name: string) => {
    const found = await library();
    const document = found.documents.get(name);
    const reader = await readerOf(context);
    return document ? documentPage(reader, found, document) : noSuchDocument(reader, found);
  };
  help.get('/', (context) => show(context, overviewName));
  help.get('/search', async (context) => {
    const question = (context.req.query('q') ?? '').slice(0, longestQuestion).trim();
    const found = await library();
    return resultsPage(await readerOf(context), found, question);
  });
  help.get('/pictures/:picture', async (context) => {
    const picture = await readPicture(context.req.param('picture'));
    if (!picture) return noSuchDocument(await readerOf(context), await library());
    context.header('Content-Type', 'image/png');
    return context.body(picture);
  });
  help.get('/:document', (context) => {
    const name = context.req.param('document');
    return name === overviewName ? context.redirect('/help', 301) : show(context, name);
  });
  return help;
}

/** The documents of this version, as they are served. */
export type Library = {
  topics: Topic[];
  /** By name; docs/README.md is {@link overviewName}. */
  documents: ReadonlyMap<string, HelpDocument>;
  search: Search;
};

/**
 * Reads and renders docs/*.md: some hundred milliseconds, in pieces, so that other requests are answered meanwhile. What
 * renders and searches is loaded here: most processes are never asked.
 */
export async function readLibrary(): Promise<Library> {
  const { readNavigation, renderDocument } = await import('./render-document.ts');
  const { searchDocuments } = await import('./search-documents.ts');
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

/** Null where there is no such picture. */
async function readPicture(name: string): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!/^[\w-]+\.png$/.test(name)) return null;
  try {
    return new Uint8Array(await readFile(new URL(`pictures/${name}`, docsFolder)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** After an upgrade the pages are new ones: browsers ask each time, and are told by an `ETag` when nothing changed. */
const askedAgain: MiddlewareHandler = async (context, next) => {
  await next();
  context.header('Cache-Control', 'private, no-cache');
};

/** Longer questions are cut. */
const longestQuestion = 200;

/** A document with the menu, its own contents, and where its text is. */
function documentPage(reader: Reader, { topics }: Library, document: HelpDocument): PageResponse {
  const { name, title, html: text, sections } = document;
  const body = html`<h1 id="${sections[0]?.anchor ?? ''}">${title}</h1>
    ${name === overviewName ? '' : contents(sections)} ${raw(text)}
    <p class="muted source">This page is <code>docs/${name}.md</code> of Holdfast ${version()}.</p>`;
  return helpPage(reader, topics, { title, current: name, body });
}

/** What the search found; nothing for an empty question. */
function resultsPage(reader: Reader, { topics, search }: Library, question: string): PageResponse {
  const found = search(question);
  const heading = question === '' ? 'Search the documentation' : `Results for “${question}”`;
  const body = html`<h1>${heading}</h1>
    ${question === '' ? html`<p>Type what you want to do, such as “back up” or “merge queue”.</p>` : ''}
    ${
      question !== '' && found.length === 0
        ? html`<p>Nothing was found. Try other words, or choose a topic from the menu.</p>`
        : ''
    }
    <ol class="found">
      ${found.map(
        ({ name, title, heading, anchor, excerpt }) =>
          html`<li>
            <a href="${documentPath(name)}#${anchor}">${heading}</a>
            ${title === heading ? '' : html`<span class="muted">${title}</span>`}
            <p>${excerpt}</p>
          </li>`,
      )}
    </ol>`;
  return helpPage(reader, topics, { title: heading, question, body, asksAgain: found.length === 0 });
}

/** For an address below `/help` at which there is no document. */
function noSuchDocument(reader: Reader, { topics }: Library): PageResponse {
  const title = 'There is no such page of the documentation';
  const body = html`<h1>${title}</h1>
    <p>Search for what you want to do, or choose a topic from the menu.</p>`;
  return helpPage(reader, topics, { title, body }, 404);
}

type PageResponse = Response | Promise<Response>;
/** Who reads, if anybody is signed in. */
type Reader = Parameters<typeof showPage>[0];
type HelpPage = {
  title: string;
  body: Html;
  current?: string;
  question?: string;
  /** Whether the field of the search has the focus. */
  asksAgain?: boolean;
};

function helpPage(
  reader: Reader,
  topics: Topic[],
  { title, body, current, question = '', asksAgain = false }: HelpPage,
  status: 200 | 404 = 200,
): PageResponse {
  const page = {
    title: current === overviewName ? title : `${title} · Help`,
    head: html`<link rel="stylesheet" href="${assetUrl('help.css')}" />`,
    body: html`<div class="help">
      <div class="help-top">
        <form class="help-search" role="search" action="/help/search">
          <label class="said" for="q">Search the documentation</label>
          <input
            id="q"
            name="q"
            type="search"
            maxlength="${longestQuestion}"
            placeholder="Search the documentation"
            value="${question}"
            ${asksAgain ? html`autofocus` : ''}
          />
          <button type="submit" class="quiet">Search</button>
        </form>
        <a class="to-topics" href="#topics">All topics</a>
      </div>
      <article>${body}</article>
      ${menu(topics, current)}
    </div>`,
  };
  return showPage(reader, page, status);
}

/** Below the article on a phone, beside it elsewhere. */
const menu = (topics: Topic[], current: string | undefined): Html =>
  html`<nav id="topics" class="topics" aria-label="Documentation">
    <a href="/help" ${current === overviewName ? raw('aria-current="page"') : ''}>Documentation</a>
    ${topics.map(
      ({ want, documents }) =>
        html`<p>${want}</p>
          <ul>
            ${documents.map(
              ({ name, title }) =>
                html`<li>
                  <a href="${documentPath(name)}" ${current === name ? raw('aria-current="page"') : ''}
                    >${title}</a
                  >
                </li>`,
            )}
          </ul>`,
    )}
  </nav>`;

/** Headings of the second level, where there is something to choose from. */
function contents(sections: HelpSection[]): Html | '' {
  const headings = sections.filter(({ depth }) => depth === 2);
  if (headings.length < 3) return '';
  return html`<nav class="contents" aria-label="On this page">
    <p>On this page</p>
    <ul>
      ${headings.map(({ heading, anchor }) => html`<li><a href="#${anchor}">${heading}</a></li>`)}
    </ul>
  </nav>`;
}
