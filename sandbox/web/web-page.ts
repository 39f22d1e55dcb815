import { html } from 'hono/html';

export type Html = ReturnType<typeof html>;

/** A page of the sandbox's website: enough to click through. */
export const webPage = (title: string, body: Html) =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
        <title>${title} · GitHub (sandbox)</title>
      </head>
      <body>
        <p>A sandbox on this machine that plays GitHub. It wants no password; it asks whom you play.</p>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`;
