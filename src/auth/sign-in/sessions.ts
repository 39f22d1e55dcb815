import type { Context } from 'hono';
import { deleteCookie, getCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import { createHash, randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import { deriveKey, openingKeys, type SecretKeys } from '../../database/secret-key.ts';
import { nowOf } from '../../time/clock.ts';
import { defineTask } from '../../database/queue/define-task.ts';
import { jobs } from '../../database/queue/jobs.ts';
import type { Person } from '../github-token.ts';
import type { SignInAttempt } from './attempt.ts';
import type { AuthDeps } from '../auth-deps.ts';

// The only way to set and read cookies: signed, hidden from scripts, and sent from other sites only with links.

export type Cookie = {
  name: string;
  /** Whether browsers reach us over HTTPS. Then they accept the cookie only from this host (`__Host-`). */
  isSecure: boolean;
  /** The first key signs, and every key verifies. */
  keys: Buffer<ArrayBuffer>[];
};

/** `session`: who is signed in. The others, each tab has its own: a sign-in, or a new second App, under way. */
export type CookieName = 'session' | `sign-in-${string}` | `lock-app-${string}`;

type CookieSettings = Pick<Config, 'publicUrl'> & SecretKeys;

/** Each purpose has its own key, so the value of one cookie never counts as another. */
export const cookieNamed = (config: CookieSettings, name: CookieName): Cookie => ({
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
export function makeRoomForSignIn(context: Context, config: CookieSettings): void {
  const beginning = fullNameOf(cookieNamed(config, 'sign-in-'));
  // Browsers send the oldest cookie first.
  const underWay = Object.keys(getCookie(context)).filter((name) => name.startsWith(beginning));
  for (const name of underWay.slice(0, Math.max(0, underWay.length + 1 - mostUnderWay)))
    dropCookie(context, cookieNamed(config, `sign-in-${name.slice(beginning.length)}`));
}

// The only access to the tables of sessions and of sign-ins that were used. Sessions are in the database, so every replica
// sees an end.

type Store = Pick<AuthDeps, 'db' | 'clock'>;

/** A signed-in person, and the installations that GitHub said they can see. These give no right. */
export type SignedIn = Person & { installationIds: bigint[] };

/** Who is signed in, and the logins of the first owners of those installations. */
export type Session = SignedIn & { owners: string[] };

export const sessionSeconds = 12 * 3600;

/** The most owners that the menu of pages lists. */
const mostOwners = 20;

/** The most sessions of one person. After that, the oldest end. */
const mostSessions = 20;

/** The hashed ids and states have 256 random bits, so they need no salt or stretching. */
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Begins a session. @returns its id, which is in the answer and nowhere else. */
export async function beginSession({ db, clock }: Store, person: SignedIn): Promise<string> {
  const id = randomBytes(32).toString('base64url');
  const now = nowOf(clock);
  const personId = BigInt(person.id);
  const idHash = hashOf(id);
  const expiresAt = new Date(now.getTime() + sessionSeconds * 1000);
  const { login, installationIds } = person;
  await db.session.create({
    data: { idHash, personId, login, installationIds, createdAt: now, expiresAt },
  });
  const others = await db.session.findMany({
    where: { personId, idHash: { not: idHash } },
    select: { idHash: true },
    orderBy: { createdAt: 'desc' },
    skip: mostSessions - 1,
  });
  if (others.length > 0)
    await db.session.deleteMany({ where: { idHash: { in: others.map((other) => other.idHash) } } });
  return id;
}

/** Ends every session of a person, on all devices. */
export async function endSessions({ db }: Pick<Store, 'db'>, person: Pick<Person, 'id'>): Promise<void> {
  await db.session.deleteMany({ where: { personId: BigInt(person.id) } });
}

export const endSessionsTask = defineTask(jobs.endSessions, (deps: AuthDeps, { personId }) =>
  endSessions(deps, { id: personId }),
);

/** What names a session in the database; null without a cookie of one. */
export async function sessionHashOf(
  { config }: Pick<AuthDeps, 'config'>,
  context: Context,
): Promise<string | null> {
  const id = await readCookie(context, cookieNamed(config, 'session'));
  return id === null ? null : hashOf(id);
}

/** Who is signed in; null if nobody is, if somebody changed the cookie, or if the session has ended. */
export async function readSession(
  deps: Store & Pick<AuthDeps, 'config'>,
  context: Context,
): Promise<Session | null> {
  const idHash = await sessionHashOf(deps, context);
  if (idHash === null) return null;
  const [session] = await deps.db.$queryRaw<(Omit<Session, 'id'> & { personId: bigint })[]>`
    SELECT person_id AS "personId", login, installation_ids AS "installationIds", ARRAY(
        SELECT DISTINCT a.login FROM installations i JOIN accounts a ON a.id = i.account_id
        WHERE i.id = ANY (installation_ids) AND i.deleted_at IS NULL ORDER BY a.login LIMIT ${mostOwners}
      ) AS owners
    FROM sessions WHERE id_hash = ${idHash} AND expires_at > ${nowOf(deps.clock)}`;
  if (!session) return null;
  const { personId, ...rest } = session;
  return { id: Number(personId), ...rest };
}

/** Uses up a sign-in, on every replica. @returns false if it was used before. */
export async function useAttempt(
  { db }: Pick<AuthDeps, 'db'>,
  { state, until }: SignInAttempt,
): Promise<boolean> {
  const { count } = await db.usedSignIn.createMany({
    data: [{ stateHash: hashOf(state), expiresAt: new Date(until) }],
    skipDuplicates: true,
  });
  return count === 1;
}

/** Lets it be used again, because GitHub did not answer. */
export async function releaseAttempt({ db }: Pick<AuthDeps, 'db'>, { state }: SignInAttempt): Promise<void> {
  await db.usedSignIn.deleteMany({ where: { stateHash: hashOf(state) } });
}
