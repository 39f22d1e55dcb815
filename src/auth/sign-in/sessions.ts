import type { Context } from 'hono';
import { createHash, randomBytes } from 'node:crypto';
import { nowOf } from '../../time/clock.ts';
import type { Deps } from '../../deps.ts';
import { defineTask } from '../../database/queue/define-task.ts';
import { jobs } from '../../database/queue/jobs.ts';
import type { Person } from '../github-token.ts';
import type { Attempt } from './attempt.ts';
import { cookieNamed, readCookie } from './cookies.ts';

// The only access to the tables of sessions and of sign-ins that were used. Sessions are in the database, so every replica
// sees an end.

type Store = Pick<Deps, 'db' | 'clock'>;

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

export const endSessionsTask = defineTask(jobs.endSessions, (deps, { personId }) =>
  endSessions(deps, { id: personId }),
);

/** Who is signed in; null if nobody is, if somebody changed the cookie, or if the session has ended. */
export async function readSession(
  deps: Store & Pick<Deps, 'config'>,
  context: Context,
): Promise<Session | null> {
  const id = await readCookie(context, cookieNamed(deps.config, 'session'));
  if (id === null) return null;
  const [session] = await deps.db.$queryRaw<(Omit<Session, 'id'> & { personId: bigint })[]>`
    SELECT person_id AS "personId", login, installation_ids AS "installationIds", ARRAY(
        SELECT DISTINCT a.login FROM installations i JOIN accounts a ON a.id = i.account_id
        WHERE i.id = ANY (installation_ids) AND i.deleted_at IS NULL ORDER BY a.login LIMIT ${mostOwners}
      ) AS owners
    FROM sessions WHERE id_hash = ${hashOf(id)} AND expires_at > ${nowOf(deps.clock)}`;
  if (!session) return null;
  const { personId, ...rest } = session;
  return { id: Number(personId), ...rest };
}

/** Uses up a sign-in, on every replica. @returns false if it was used before. */
export async function useAttempt({ db }: Pick<Deps, 'db'>, { state, until }: Attempt): Promise<boolean> {
  const { count } = await db.usedSignIn.createMany({
    data: [{ stateHash: hashOf(state), expiresAt: new Date(until) }],
    skipDuplicates: true,
  });
  return count === 1;
}

/** Lets it be used again, because GitHub did not answer. */
export async function releaseAttempt({ db }: Pick<Deps, 'db'>, { state }: Attempt): Promise<void> {
  await db.usedSignIn.deleteMany({ where: { stateHash: hashOf(state) } });
}
