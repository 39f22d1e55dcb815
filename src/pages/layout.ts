import { html } from 'hono/html';
import { assetUrl } from './assets.ts';

/** Markup whose texts are escaped: only `html` makes it. */
export type Html = ReturnType<typeof html>;

export type Page = {
  /** Of the browser's tab; the page's own heading is part of its body. */
  title: string;
  body: Html;
  /** Who is signed in; null: nobody; absent where one cannot, as while the service is set up. */
  viewer?: { login: string } | null;
  /** Further elements of the head, for a page that moves by itself. */
  head?: Html;
};

/** A whole page in the one look that all pages have. */
export function layout({ title, body, viewer, head }: Page): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Holdfast</title>
        <link rel="stylesheet" href="${assetUrl('style.css')}" />
        <link rel="icon" type="image/svg+xml" href="${assetUrl('icon.svg')}" />
        <script type="module" src="${assetUrl('local-times.js')}"></script>
        ${head ?? ''}
      </head>
      <body>
        <header class="top">
          <a class="brand" href="/">Holdfast</a>
          ${viewer ? signedIn(viewer.login) : viewer === null ? signIn : ''}
        </header>
        <main>${body}</main>
        <footer>
          <a href="/docs">API reference</a>
        </footer>
      </body>
    </html>`;
}

/** Leads back to the page that it stands on: browsers say which that is. */
const signIn = html`<a href="/auth/sign-in">Sign in</a>`;

const signedIn = (login: string): Html =>
  html`<form class="session" method="post" action="/auth/sign-out">
    <span>${login}</span>
    <button type="submit" class="quiet">Sign out</button>
  </form>`;
