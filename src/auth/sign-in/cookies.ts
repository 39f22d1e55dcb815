// The only way to set and read cookies: signed, hidden from scripts, and sent from other sites only with links.
import type { Context } from 'hono';
import { deleteCookie, getCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Config } from '../../config.ts';
import { deriveKey, openingKeys, type SecretKeys } from '../../database/secret-key.ts';

export type Cookie = {
  name: string;
  /** Whether browsers reach us over HTTPS. Then they accept the cookie only from this host (`__Host-`). */
  isSecure: boolean;
  /** The first key signs, and every key verifies. */
  keys: Buffer<ArrayBuffer>[];
};

/** `session`: who is signed in. The others, each tab has its own: a sign-in, or a new second App, under way. */
export type CookieName = 'session' | `sign-in-${string}` | `lock-app-${string}`;

type Settings = Pick<Config, 'publicUrl'> & SecretKeys;

/** Each purpose has its own key, so the value of one cookie never counts as another. */
export const cookieNamed = (config: Settings, name: CookieName): Cookie => ({
  name: `holdfast-${name}`,
  isSecure: new URL(config.publicUrl).protocol === 'https:',
  keys: config.secretKey ? openingKeys(config).map((key) => deriveKey(key, `cookie ${name}`)) : [],
});

const fullNameOf = ({ name, isSecure }: Cookie): string => `${isSecure ? '__Host-' : ''}${name}`;

const attributesOf = ({ isSecure }: Cookie) =>
  // Lax: the return from GitHub is a navigation from another site.
  ({ path: '/', httpOnly: true, secure: isSecure, sameSite: 'Lax' }) as const;

/** @param seconds how long the browser keeps it. */
export async function writeCookie(
  context: Context,
  cookie: Cookie,
  value: string,
  seconds: number,
): Promise<void> {
  const options = { ...attributesOf(cookie), maxAge: seconds };
  await setSignedCookie(context, fullNameOf(cookie), value, cookie.keys[0]!, options);
}

/** The value of a cookie that we signed; null if there is none, or if its signature is wrong. */
export async function readCookie(context: Context, cookie: Cookie): Promise<string | null> {
  for (const key of cookie.keys) {
    const value = await getSignedCookie(context, key, fullNameOf(cookie));
    if (value) return value;
  }
  return null;
}

export function dropCookie(context: Context, cookie: Cookie): void {
  deleteCookie(context, fullNameOf(cookie), attributesOf(cookie));
}

/** The most sign-ins under way in a browser, so that the cookie header does not grow without end. */
const mostUnderWay = 5;

/** Drops the oldest sign-ins of a browser if it has too many for another one. */
export function makeRoomForSignIn(context: Context, config: Settings): void {
  const beginning = fullNameOf(cookieNamed(config, 'sign-in-'));
  // Browsers send the oldest cookie first.
  const underWay = Object.keys(getCookie(context)).filter((name) => name.startsWith(beginning));
  for (const name of underWay.slice(0, Math.max(0, underWay.length + 1 - mostUnderWay)))
    dropCookie(context, cookieNamed(config, `sign-in-${name.slice(beginning.length)}`));
}
