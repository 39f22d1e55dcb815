/** A base whose own address does not matter: only what is relative to it counts. */
const anyOrigin = 'http://own.invalid';

/**
 * A path of this service to open after signing in; `/` for anything that a browser could read as another place:
 * another scheme or host, `//host`, `/\host`, control characters (browsers drop some of them first).
 */
export function ownPath(asked: string | undefined): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (!asked?.startsWith('/') || /^\/[/\\]|[\\\u0000-\u001f\u007f]/.test(asked)) return '/';
  if (!URL.canParse(asked, anyOrigin)) return '/';
  const { origin, pathname, search } = new URL(asked, anyOrigin);
  const path = pathname + search;
  // The parser turns `/.//host` into `//host`.
  return origin === anyOrigin && !path.startsWith('//') && path.length <= longest ? path : '/';
}

/** The most characters, because it is in a cookie. */
const longest = 1000;
