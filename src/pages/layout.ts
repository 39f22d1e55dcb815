import { html } from 'hono/html';
import { assetUrl } from './assets.ts';

/** Markup with escaped texts. Only `html` makes it. */
export type Html = ReturnType<typeof html>;

export type Page = {
  /** The title of the browser tab. The heading of the page is part of its body. */
  title: string;
  body: Html;
  /** Who is signed in; null for nobody. Absent where nobody can sign in, such as on the setup page. */
  viewer?: { login: string } | null;
  /** More elements for the head, for a page that updates itself. */
  head?: Html;
};

/** A complete page in the layout that all pages share. */
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
          <a href="/help">Help</a>
          <a href="/docs">API reference</a>
        </footer>
      </body>
    </html>`;
}

/** After signing in, people return to the page with this link. The browser's `Referer` names it. */
const signIn = html`<a href="/auth/sign-in">Sign in</a>`;

const signedIn = (login: string): Html =>
  html`<form class="session" method="post" action="/auth/sign-out">
    <span>${login}</span>
    <button type="submit" class="quiet">Sign out</button>
  </form>`;
