import type { Context } from 'hono';
import type { Deps } from '../../deps.ts';
import { readCookie } from './cookies.ts';
import { findSession, type SignedIn } from './session-store.ts';

/** Who is signed in; null for nobody, and for a cookie that is tampered with or of a session that ended. */
export async function readSession(
  deps: Pick<Deps, 'config' | 'db' | 'clock'>,
  context: Context,
): Promise<SignedIn | null> {
  const id = await readCookie(context, deps.config, 'session');
  return id === null ? null : findSession(deps, id);
}
