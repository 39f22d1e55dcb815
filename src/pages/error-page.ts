import type { Context } from 'hono';
import type { Logger } from 'pino';
import { refusalOf } from '../api/error-response.ts';
import { refusalStatus } from '../errors.ts';
import { messagePage } from './message-page.ts';

/** Answers for a page that threw, like the API, in words for people. */
export function errorPage(error: Error, context: Context, log: Logger): Promise<Response> {
  const refusal = refusalOf(error);
  if (!refusal) {
    const { requestId } = context.var;
    log.error({ err: error, requestId }, 'a request failed');
    const text = `Give the request ID ${requestId} to the people who run this service.`;
    return messagePage(context, { status: 500, title: 'Something went wrong on our side', text });
  }
  if (refusal.retryAfter !== undefined) context.header('Retry-After', String(refusal.retryAfter));
  const status = refusalStatus[refusal.code];
  return messagePage(context, { status, title: 'This page is not available', text: refusal.message });
}
