// The only way to set and read cookies: signed, hidden from scripts, and sent from other sites only with links.
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';

export type Cookie = {
  name: string;
  /** Whether browsers reach us over HTTPS. Then they accept the cookie only from this host (`__Host-`). */
  isSecure: boolean;
};
/** `keys`: the first key signs, and every key verifies. */
export type SignedCookie = Cookie & { keys: Buffer<ArrayBuffer>[] };

/** The name of the cookie in browsers. */
export const fullNameOf = ({ name, isSecure }: Cookie): string => `${isSecure ? '__Host-' : ''}${name}`;

const attributesOf = ({ isSecure }: Cookie) =>
  // Lax: the return from GitHub is a navigation from another site.
  ({ path: '/', httpOnly: true, secure: isSecure, sameSite: 'Lax' }) as const;

/** @param seconds how long the browser keeps it. */
export async function writeCookie(
  context: Context,
  cookie: SignedCookie,
  value: string,
  seconds: number,
): Promise<void> {
  const options = { ...attributesOf(cookie), maxAge: seconds };
  await setSignedCookie(context, fullNameOf(cookie), value, cookie.keys[0]!, options);
}

/** The value of a cookie that we signed; null if there is none, or if its signature is wrong. */
export async function readCookie(context: Context, cookie: SignedCookie): Promise<string | null> {
  for (const key of cookie.keys) {
    const value = await getSignedCookie(context, key, fullNameOf(cookie));
    if (value) return value;
  }
  return null;
}

export function dropCookie(context: Context, cookie: Cookie): void {
  deleteCookie(context, fullNameOf(cookie), attributesOf(cookie));
}
