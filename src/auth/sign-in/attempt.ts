import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import type { CookieName } from './sessions.ts';

/** A sign-in under way, in a cookie of the browser that began it. */
export type SignInAttempt = {
  /** GitHub returns it with the answer. It proves that this browser asked. */
  state: string;
  /** The PKCE verifier. A stolen code is useless without it. */
  verifier: string;
  /** A path of this service. */
  to: string;
  /** Milliseconds since the epoch. */
  until: number;
};

/** As long as GitHub's codes live. */
export const attemptSeconds = 600;

export const beginAttempt = (to: string, now: number, seconds = attemptSeconds): SignInAttempt => ({
  state: randomBytes(32).toString('base64url'),
  verifier: randomBytes(32).toString('base64url'),
  to,
  until: now + seconds * 1000,
});

/** The cookie that keeps the attempt with this state. */
export const cookieNameOf = (state: string): CookieName => `sign-in-${state.slice(0, 8)}`;

/** PKCE's S256 (RFC 7636). */
export const challengeOf = ({ verifier }: SignInAttempt): string =>
  createHash('sha256').update(verifier).digest('base64url');

export const writeAttempt = (attempt: SignInAttempt): string =>
  Buffer.from(JSON.stringify(attempt)).toString('base64url');

const attemptShape = z.object({ state: z.string(), verifier: z.string(), to: z.string(), until: z.number() });

/** The attempt in a cookie's value; null if there is none, if it is too old, or if the answer is for another one. */
export function readAttempt(value: string | null, state: string, now: number): SignInAttempt | null {
  const attempt = attemptShape.safeParse(parse(value ?? '')).data;
  if (!attempt || attempt.until <= now) return null;
  const [expected, given] = [Buffer.from(attempt.state), Buffer.from(state)];
  return expected.length === given.length && timingSafeEqual(expected, given) ? attempt : null;
}

function parse(value: string): unknown {
  try {
    return JSON.parse(Buffer.from(value, 'base64url').toString());
  } catch {
    return null;
  }
}

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
  return origin === anyOrigin && !path.startsWith('//') && path.length <= longestReturn ? path : '/';
}

/** The most characters, because it is in a cookie. */
const longestReturn = 1000;
