import type { Context } from 'hono';
import { deleteCookie, getCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Config } from '../../config.ts';
import { deriveKey } from '../../derive-key.ts';

/** `session`: who is signed in. `sign-in-…`: a sign-in that is under way; each tab has its own. */
export type CookieName = 'session' | `sign-in-${string}`;

type Keeper = Pick<Config, 'publicUrl' | 'secretKey'>;

const isSecure = ({ publicUrl }: Keeper): boolean => new URL(publicUrl).protocol === 'https:';

/** With `__Host-` a browser takes it from this very host over HTTPS only. */
const nameOf = (config: Keeper, name: CookieName): string =>
  `${isSecure(config) ? '__Host-' : ''}holdfast-${name}`;

/** One key a purpose, so that one cookie's value never passes for another's. */
const keyOf = (secretKey: string, name: CookieName) => deriveKey(secretKey, `cookie ${name}`);

const attributes = (config: Keeper) =>
  ({ path: '/', httpOnly: true, secure: isSecure(config), sameSite: 'Lax' }) as const;

/** Sets a signed cookie that scripts cannot read. @param seconds how long the browser keeps it. */
export async function writeCookie(
  context: Context,
  config: Keeper & { secretKey: string },
  name: CookieName,
  value: string,
  seconds: number,
): Promise<void> {
  const options = { ...attributes(config), maxAge: seconds };
  await setSignedCookie(context, nameOf(config, name), value, keyOf(config.secretKey, name), options);
}

/** The value of a cookie that we signed; null where there is none, or its signature is wrong. */
export async function readCookie(context: Context, config: Keeper, name: CookieName): Promise<string | null> {
  if (!config.secretKey) return null;
  const value = await getSignedCookie(context, keyOf(config.secretKey, name), nameOf(config, name));
  return value || null;
}

export function dropCookie(context: Context, config: Keeper, name: CookieName): void {
  deleteCookie(context, nameOf(config, name), attributes(config));
}

/** Sign-ins under way that a browser keeps: a header of cookies may not grow without end. */
const mostUnderWay = 5;

/** Drops the oldest sign-ins of a browser, where it keeps so many that another one is too much. */
export function makeRoomForSignIn(context: Context, config: Keeper): void {
  const beginning = nameOf(config, 'sign-in-');
  // Browsers send the oldest first.
  const kept = Object.keys(getCookie(context)).filter((name) => name.startsWith(beginning));
  for (const name of kept.slice(0, Math.max(0, kept.length + 1 - mostUnderWay)))
    dropCookie(context, config, `sign-in-${name.slice(beginning.length)}`);
}
