import { createHash, randomBytes } from 'node:crypto';
import type { Person } from '../github-token.ts';
import { nowOf } from '../../clock.ts';
import type { Deps } from '../../deps.ts';

// The only access to the sessions table. Sessions live in the database, so an end counts on every replica.

type Store = Pick<Deps, 'db' | 'clock'>;

/** Somebody who signed in, and the installations that GitHub said then they can see: where to look, and no right. */
export type SignedIn = Person & { installationIds: bigint[] };

export const sessionSeconds = 12 * 3600;

/** Of one person; beyond them the oldest end. */
const mostSessions = 20;

/** The random id has 256 bits: no salt or stretching is needed. */
const hashOf = (id: string): string => createHash('sha256').update(id).digest('hex');

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

/** Whose session it is; null for one that ended or never was. */
export async function findSession({ db, clock }: Store, id: string): Promise<SignedIn | null> {
  const session = await db.session.findUnique({ where: { idHash: hashOf(id) } });
  if (!session || session.expiresAt <= nowOf(clock)) return null;
  const { personId, login, installationIds } = session;
  return { id: Number(personId), login, installationIds };
}

/** Ends every session of a person: on this device and on the others. */
export async function endSessions({ db }: Pick<Store, 'db'>, person: Pick<Person, 'id'>): Promise<void> {
  await db.session.deleteMany({ where: { personId: BigInt(person.id) } });
}
