import { html, raw } from 'hono/html';
import { version } from '../../cli/version.ts';
import { assetUrl } from '../assets.ts';
import { type Html, layout, type Page } from '../layout.ts';
import type { Library, Topic } from './library.ts';
import { documentPath, overviewName } from './address.ts';
import type { HelpDocument, Section } from './render-document.ts';
import type { Found } from './search-documents.ts';

/** Longer questions are cut. */
export const longestQuestion = 200;

/** Who reads, if anybody is signed in, and their time zone. */
type Reader = Pick<Page, 'viewer' | 'zone'>;

/** A document with the menu, its own contents, and where its text is. */
export function documentPage(library: Library, document: HelpDocument, reader: Reader): Html {
  const { name, title, html: text, sections } = document;
  const body = html`<h1 id="${sections[0]?.anchor ?? ''}">${title}</h1>
    ${name === overviewName ? '' : contents(sections)} ${raw(text)}
    <p class="muted source">This page is <code>docs/${name}.md</code> of Holdfast ${version()}.</p>`;
  return helpPage(library.topics, { title, current: name, body, ...reader });
}

/** What the search found; nothing for an empty question. */
export function resultsPage({ topics }: Library, question: string, found: Found[], reader: Reader): Html {
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
  return helpPage(topics, { title: heading, question, body, ...reader });
}

/** For an address below `/help` at which there is no document. */
export function noSuchDocument({ topics }: Library, reader: Reader): Html {
  const title = 'There is no such page of the documentation';
  const body = html`<h1>${title}</h1>
    <p>Search for what you want to do, or choose a topic from the menu.</p>`;
  return helpPage(topics, { title, body, ...reader });
}

type HelpPage = Reader & { title: string; body: Html; current?: string; question?: string };

function helpPage(topics: Topic[], { title, body, current, question = '', ...reader }: HelpPage): Html {
  return layout({
    title: current === overviewName ? title : `${title} · Help`,
    ...reader,
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
          />
          <button type="submit" class="quiet">Search</button>
        </form>
        <a class="to-topics" href="#topics">All topics</a>
      </div>
      <article>${body}</article>
      ${menu(topics, current)}
    </div>`,
  });
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
function contents(sections: Section[]): Html | '' {
  const headings = sections.filter(({ depth }) => depth === 2);
  if (headings.length < 3) return '';
  return html`<nav class="contents" aria-label="On this page">
    <p>On this page</p>
    <ul>
      ${headings.map(({ heading, anchor }) => html`<li><a href="#${anchor}">${heading}</a></li>`)}
    </ul>
  </nav>`;
}
