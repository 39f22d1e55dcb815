import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { layout } from './layout.ts';

/** A page that only says what happened and what to do next. */
export type Message = {
  status: ContentfulStatusCode;
  title: string;
  text: string;
  /** The link to continue with; the home page by default. */
  link?: { href: string; text: string };
};

/** Answers with a plain page. */
export async function messagePage(
  context: Context,
  { status, title, text, link = home }: Message,
  viewer?: { login: string } | null,
): Promise<Response> {
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" href="${link.href}">${link.text}</a></p>`;
  return context.html(layout({ title, body, viewer }), status);
}

const home = { href: '/', text: 'Go to the home page' };
