import type { Context, MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { ownFormsOnly } from '../auth/own-forms.ts';
import type { Html } from './html.ts';
import { layout, type LayoutPage } from './layout.ts';
import { refusalOf } from '../api/error-response.ts';
import { type Released, whatGoesOn } from '../words/describe-fields.ts';
import { type Refusal, refusalStatus } from '../errors.ts';
import type { Deps } from '../deps.ts';
import { readerZone } from './text.ts';

/** A page that only says what happened and what to do next. */
export type PageMessage = {
  status: ContentfulStatusCode;
  title: string;
  text: string;
  /** The link to continue with; the home page by default. */
  link?: { href: string; text: string };
  /** What stands below the link. */
  more?: Html;
};

/** Answers with a page for the viewer, in their time zone. It says what is wrong with the database: reads may succeed. */
export const showPage = (
  {
    context,
    viewer,
    deps,
  }: { context: Context; viewer?: LayoutPage['viewer']; deps?: Pick<Deps, 'trouble'> },
  page: Omit<LayoutPage, 'viewer' | 'trouble'>,
  status?: ContentfulStatusCode,
): Response | Promise<Response> => {
  const trouble = deps?.trouble.now()[0]?.message;
  return context.html(layout({ viewer, zone: readerZone(context), trouble, ...page }), status);
};

/** Answers with a plain page. */
export async function messagePage(
  context: Context,
  { status, title, text, link = home, more }: PageMessage,
  viewer?: { login: string } | null,
): Promise<Response> {
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    <p><a class="button" href="${link.href}">${link.text}</a></p>
    ${more ?? ''}`;
  return showPage({ context, viewer }, { title, body }, status);
}

const home = { href: '/', text: 'Go to the home page' };

/** The messages after the end of freezes, which differ by what they held. */
function ending(name: string, text: string): Record<string, string> {
  const all = Object.entries(whatGoesOn) as [Released, string][];
  return Object.fromEntries(
    all.map(([released, goesOn]) => [endingName(name, released), `${text} ${goesOn}`]),
  );
}

/** What the URL calls the message. */
export const endingName = (name: string, released: Released): string =>
  released === 'merges' ? name : `${name}-${released}`;

/** What a page says after a change. The URL only names it, so that nobody can inject a message. */
const messages: Record<string, string> = {
  saved: 'Saved.',
  told: 'Posted. It arrives within seconds.',
  ...ending('unfrozen', 'Unfrozen.'),
  ...ending('plan-ended', 'The plan has ended.'),
  restored: 'Restored. The freezes are as they were, and block again within seconds.',
  deleted: 'Deleted.',
  requested: 'Requested. It waits until an admin or an approver decides.',
  approved: 'Approved. The exemption counts within seconds.',
  denied: 'Denied. What was asked for stays blocked.',
};

/**
 * The message that the URL of a page names (`said`).
 * @param undo the button that takes back what it says.
 * @param isSo whether it is still so: a page that updates itself asks for the same URL.
 */
export function saidMessage(
  { req }: Context,
  undo: Html | '' = '',
  isSo: (name: string) => boolean = () => true,
): Html | '' {
  const name = req.query('said') ?? '';
  return Object.hasOwn(messages, name) && isSo(name) ? doneNotice(messages[name]!, undo) : '';
}

/** Says what was done. @param undo the button that takes it back. */
export const doneNotice = (text: string, undo: Html | '' = ''): Html =>
  undo === ''
    ? html`<p class="notice done" role="status">${text}</p>`
    : html`<div class="notice done" role="status">${text} ${undo}</div>`;

/** Answers with a refusal. @param more the title, and the link if it is not the home page. */
export function refusalPage(
  context: Context,
  { code, message, retryAfter }: Refusal,
  more: Pick<PageMessage, 'title' | 'link'>,
  viewer?: { login: string } | null,
): Promise<Response> {
  if (retryAfter !== undefined) context.header('Retry-After', String(retryAfter));
  return messagePage(context, { status: refusalStatus[code], text: message, ...more }, viewer);
}

/** Answers for a page that threw, like the API, in words for people. */
export function errorPage(error: Error, context: Context, log: Logger): Promise<Response> {
  const refusal = refusalOf(error);
  if (refusal) return refusalPage(context, refusal, { title: 'This page is not available' });
  const { requestId } = context.var;
  log.error({ err: error, requestId }, 'a request failed');
  const text = `Give the request ID ${requestId} to the people who run this service.`;
  return messagePage(context, { status: 500, title: 'Something went wrong on our side', text });
}

/** Lets pass the forms that a page of Holdfast sent. @param foreign what a form of another site gets. */
export function ownForms(
  { config: { publicUrl } }: Pick<Deps, 'config'>,
  foreign: Pick<PageMessage, 'title' | 'text'>,
): MiddlewareHandler {
  const { origin } = new URL(publicUrl);
  return ownFormsOnly(
    () => origin,
    (context) => messagePage(context, { status: 403, ...foreign }),
  );
}

/** The Holdfast page with the link or form that led here. Browsers send its URL to the same origin only. */
export function pageBefore(
  { req }: Context,
  { config: { publicUrl } }: Pick<Deps, 'config'>,
): string | undefined {
  const referer = req.header('Referer') ?? '';
  if (!URL.canParse(referer)) return undefined;
  const { origin, pathname, search } = new URL(referer);
  const isOwn = origin === new URL(publicUrl).origin && !pathname.startsWith('/auth/');
  return isOwn ? pathname + search : undefined;
}

/**
 * Whether a form or link of a Holdfast page led here, for what no other site may ask. Browsers say so for pages over HTTPS;
 * of others, the URL of the page does. Pages of other sites can forge neither.
 */
export function isFromOwnPage(context: Context, deps: Pick<Deps, 'config'>): boolean {
  const site = context.req.header('Sec-Fetch-Site');
  return site === undefined ? pageBefore(context, deps) !== undefined : site === 'same-origin';
}
