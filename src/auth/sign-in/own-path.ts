/** Where the path has no bearing: only what is relative to it counts. */
const anyOrigin = 'http://own.invalid';

/**
 * A path of this service to go to after signing in; `/` for anything that a browser might take for another place:
 * another scheme or host, `//host`, `/\host`, control characters (browsers drop some of them first).
 */
export function ownPath(asked: string | undefined): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (!asked?.startsWith('/') || /^\/[/\\]|[\\\u0000-\u001f\u007f]/.test(asked)) return '/';
  if (!URL.canParse(asked, anyOrigin)) return '/';
  const { origin, pathname, search } = new URL(asked, anyOrigin);
  const path = pathname + search;
  // `/.//host` comes out of the parser as `//host`.
  return origin === anyOrigin && !path.startsWith('//') && path.length <= longest ? path : '/';
}

/** It travels in a cookie. */
const longest = 1000;
