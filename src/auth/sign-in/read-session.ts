import type { Context } from 'hono';
import type { Deps } from '../../deps.ts';
import { readCookie } from './cookies.ts';
import { findSession, type SignedIn } from './session-store.ts';

/** Who is signed in; null if nobody is, if somebody changed the cookie, or if the session has ended. */
export async function readSession(
  deps: Pick<Deps, 'config' | 'db' | 'clock'>,
  context: Context,
): Promise<SignedIn | null> {
  const id = await readCookie(context, deps.config, 'session');
  return id === null ? null : findSession(deps, id);
}
