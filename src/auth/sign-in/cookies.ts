import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Config } from '../../config.ts';
import { deriveKey, openingKeys, type SecretKeys } from '../../database/secret-key.ts';
import * as cookies from '../cookies.ts';

/** `session`: who is signed in. `sign-in-…`: a sign-in under way; each tab has its own. */
export type CookieName = 'session' | `sign-in-${string}`;

type Keeper = Pick<Config, 'publicUrl'> & SecretKeys;

const cookieOf = ({ publicUrl }: Keeper, name: CookieName): cookies.Cookie => ({
  name: `holdfast-${name}`,
  isSecure: new URL(publicUrl).protocol === 'https:',
});

/** Each purpose has its own key, so the value of one cookie never counts as another. */
const signedCookieOf = (config: Keeper, name: CookieName): cookies.SignedCookie => ({
  ...cookieOf(config, name),
  keys: openingKeys(config).map((key) => deriveKey(key, `cookie ${name}`)),
});

/** @param seconds how long the browser keeps it. */
export const writeCookie = (
  context: Context,
  config: Keeper & { secretKey: string },
  name: CookieName,
  value: string,
  seconds: number,
): Promise<void> => cookies.writeCookie(context, signedCookieOf(config, name), value, seconds);

/** The value of a cookie that we signed; null if there is none, or if its signature is wrong. */
export async function readCookie(context: Context, config: Keeper, name: CookieName): Promise<string | null> {
  if (!config.secretKey) return null;
  return cookies.readCookie(context, signedCookieOf(config, name));
}

export const dropCookie = (context: Context, config: Keeper, name: CookieName): void =>
  cookies.dropCookie(context, cookieOf(config, name));

/** The most sign-ins under way in a browser, so that the cookie header does not grow without end. */
const mostUnderWay = 5;

/** Drops the oldest sign-ins of a browser if it has too many for another one. */
export function makeRoomForSignIn(context: Context, config: Keeper): void {
  const beginning = cookies.fullNameOf(cookieOf(config, 'sign-in-'));
  // Browsers send the oldest cookie first.
  const kept = Object.keys(getCookie(context)).filter((name) => name.startsWith(beginning));
  for (const name of kept.slice(0, Math.max(0, kept.length + 1 - mostUnderWay)))
    dropCookie(context, config, `sign-in-${name.slice(beginning.length)}`);
}
