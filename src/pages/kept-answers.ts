import type { Context, Handler, MiddlewareHandler } from 'hono';
import { createHash, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import { sessionHashOf } from '../auth/sign-in/sessions.ts';
import { CannotUnseal, seal, unseal } from '../database/secret-key.ts';
import type { Deps } from '../deps.ts';
import { nowOf } from '../time/clock.ts';
import { minute } from '../time/units.ts';

// Every form is answered with a redirect, so neither Reload nor Back asks to send it again. What would be answered with a
// page has an address of its own (`?answer=`), which only the session that sent the form can open. Of a preview, the form
// is kept, and each load shows the preview of now; of any other page, the page. Of a change that warns of something, the
// warnings are kept for the page that follows it. The address is the key: the database has its hash only.

type Store = Pick<Deps, 'sql' | 'clock' | 'config' | 'db'>;

const keptShape = z.union([
  z.object({ form: z.string() }),
  z.object({ page: z.string(), status: z.number() }),
  z.object({ warnings: z.array(z.string()) }),
]);
type Kept = z.infer<typeof keptShape>;

const keptFor = 60 * minute;
/** A page with a new secret, which people copy at once. */
export const secretKeptFor = 10 * minute;
/** How many of a session are kept: the newest. */
const mostAnswersKept = 16;
/** Characters of one, sealed. What is larger is answered at once, as it is. */
const largestAnswer = 512 * 1024;

const parameter = 'answer';
/** Of the warnings of a change. */
const warned = 'warned';
const purpose = 'kept answer';
const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');

/** Handles a form: a page that `handler` answers is kept, and the browser is sent there. @param path of the form and of the page. */
export const keepAnswer =
  (deps: Store): MiddlewareHandler =>
  async (context, next) => {
    await next();
    const { status, headers } = context.res;
    const isPage = headers.get('Content-Type')?.startsWith('text/html') === true;
    if (!isPage || status >= 500 || status === 429) return;
    const page = await context.res.clone().text();
    const to = await keep(deps, context, { page, status }, context.get(isSecret) ? secretKeptFor : keptFor);
    // Keeps the cookies that it sets.
    if (to !== null) context.res = new Response(null, { status: 303, headers: { Location: to } });
  };

/** The page that follows a change, with the warnings of the change. @returns its address. */
export async function toWarned(
  deps: Store,
  context: Context,
  warnings: string[],
  to: string,
): Promise<string> {
  if (warnings.length === 0) return to;
  const at = `${to}${to.includes('?') ? '&' : '?'}${warned}=`;
  return (await keep(deps, context, { warnings }, keptFor, at)) ?? to;
}

/** The warnings of the change that led to this page. */
export async function warningsOfChange(deps: Store, context: Context): Promise<string[]> {
  const id = context.req.query(warned);
  const kept = id === undefined ? null : await find(deps, context, id);
  return kept && 'warnings' in kept ? kept.warnings : [];
}

const isSecret = 'isSecret';
/** Marks the answer of a form as a page with a secret, which is kept for a shorter time. */
export const holdsSecret = (context: Context): void => context.set(isSecret, true);

/** Keeps a form that was sent for its preview. @returns the address of the preview; null if it cannot be kept. */
export const keepForm = (deps: Store, context: Context, form: URLSearchParams): Promise<string | null> =>
  keep(deps, context, { form: String(form) }, keptFor);

/**
 * Handles the address of a kept answer. One that is over, or another session's, leads to the page without it.
 * @param handler of the form, which shows the preview.
 */
export const showAnswer =
  (deps: Store, handler: Handler): Handler =>
  async (context, next) => {
    const id = context.req.query(parameter);
    if (id === undefined) return next();
    const kept = await find(deps, context, id);
    if (!kept || 'warnings' in kept) return context.redirect(context.req.path, 302);
    if ('page' in kept) return context.html(kept.page, kept.status as 200);
    const form = new URLSearchParams(kept.form);
    // The same for each load of the page: the change is made once, also by somebody who goes back.
    form.set('key', hashOf(id));
    context.set(keptForm, form);
    return handler(context, next);
  };

/**
 * Handles a form that is still being filled in (`?live`): shows its preview, and changes nothing. What it lacks that does not
 * change the preview is made up. What it lacks otherwise is no mistake yet, so the answer is none of an error.
 * @param handler of the form.
 */
export const showLive =
  (handler: Handler): Handler =>
  async (context, next) => {
    if (context.req.query('live') === undefined) return next();
    const form = new URLSearchParams(new URL(context.req.url).search);
    form.set('step', 'preview');
    form.set('reason', form.get('reason')?.trim() || '-');
    context.set(keptForm, form);
    const answer = (await handler(context, next)) ?? context.res;
    return answer.status === 422 ? new Response(answer.body, { headers: answer.headers }) : answer;
  };

const keptForm = 'keptForm';
/** The form whose preview this request shows; undefined if it is a form that was sent. */
export const keptFormOf = (context: Context): URLSearchParams | undefined => context.get(keptForm);

const insert = `
  WITH old AS (DELETE FROM kept_answers WHERE id_hash IN (
    SELECT id_hash FROM kept_answers WHERE session_hash = $2 ORDER BY created_at DESC, id_hash OFFSET ${mostAnswersKept - 1}))
  INSERT INTO kept_answers (id_hash, session_hash, sealed, created_at, expires_at)
  SELECT $1, id_hash, $3, $4::timestamptz, $5::timestamptz FROM sessions
  WHERE id_hash = $2 AND expires_at > $4::timestamptz RETURNING id_hash`;

/** @param to an address that the key completes. @returns the address; null if it cannot be kept. */
async function keep(
  deps: Store,
  context: Context,
  kept: Kept,
  lasts: number,
  to = `${context.req.path}?${parameter}=`,
): Promise<string | null> {
  const session = await sessionHashOf(deps, context);
  if (session === null) return null;
  const id = randomBytes(32).toString('base64url');
  const sealed = seal(id, purpose, deflateRawSync(JSON.stringify(kept)).toString('base64'));
  if (sealed.length > largestAnswer) return null;
  const now = nowOf(deps.clock);
  const until = new Date(now.getTime() + lasts);
  const rows = await deps.sql.query('keep-answer', insert, [hashOf(id), session, sealed, now, until]);
  return rows.length === 0 ? null : `${to}${id}`;
}

async function find(deps: Store, context: Context, id: string): Promise<Kept | null> {
  const sessionHash = await sessionHashOf(deps, context);
  if (sessionHash === null) return null;
  const row = await deps.db.keptAnswer.findFirst({
    where: { idHash: hashOf(id), sessionHash, expiresAt: { gt: nowOf(deps.clock) } },
    select: { sealed: true },
  });
  if (!row) return null;
  try {
    const packed = Buffer.from(unseal(id, purpose, row.sealed), 'base64');
    return keptShape.parse(JSON.parse(inflateRawSync(packed).toString()));
  } catch (error) {
    if (error instanceof CannotUnseal) return null;
    throw error;
  }
}
