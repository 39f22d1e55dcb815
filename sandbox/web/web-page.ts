import { html, raw } from 'hono/html';
import type { Account } from '../state/model.ts';
import { style } from './style.ts';

export type Html = ReturnType<typeof html>;

type Surroundings = {
  /** The person at the browser, on pages that depend on it; null: nobody is signed in. */
  person?: Account | null;
  /** Path and query of the page to return to. */
  path?: string;
  /** Further elements of the head. */
  head?: Html;
};

/** A page of the sandbox's website. */
export const webPage = (title: string, body: Html, { person, path = '/', head }: Surroundings = {}) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <title>${title} · GitHub (sandbox)</title>
        <style>
          ${raw(style)}
        </style>
        ${head ?? ''}
      </head>
      <body>
        <header>
          <a class="brand" href="/">GitHub <span class="muted">(sandbox)</span></a>
          ${person === undefined ? '' : whoIsThere(person, path)}
        </header>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
        <footer class="muted">
          This sandbox plays GitHub on your machine. It needs no password: choose who you are.
        </footer>
      </body>
    </html>`;

const whoIsThere = (person: Account | null, path: string): Html => {
  const choose = `/login?return_to=${encodeURIComponent(path)}`;
  return person
    ? html`<span><strong>${person.login}</strong> · <a href="${choose}">Switch account</a></span>`
    : html`<a href="${choose}">Sign in</a>`;
};
