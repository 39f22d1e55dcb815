// The one way to set and read cookies: signed, out of reach for scripts, and sent along from other sites with links only.
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';

export type Cookie = {
  name: string;
  /** Whether browsers reach us over HTTPS. Then they take the cookie from this very host only (`__Host-`). */
  isSecure: boolean;
};
/** `keys`: the first signs, and each of them opens. */
export type SignedCookie = Cookie & { keys: Buffer<ArrayBuffer>[] };

/** The name that browsers know it by. */
export const fullNameOf = ({ name, isSecure }: Cookie): string => `${isSecure ? '__Host-' : ''}${name}`;

const attributesOf = ({ isSecure }: Cookie) =>
  // Lax: the way back from GitHub is a navigation from another site.
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

/** The value of a cookie that we signed; null where there is none, or its signature is wrong. */
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
