import type { Tx } from '../database/database.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';

// Which failed deliveries are asked for again. One that fails again is listed by GitHub under a new id.

type Failure = { deliveryId: bigint; guid: string };

const minute = 60_000;
/** An hour between the later attempts, until GitHub forgets the delivery after three days. */
const longestWait = 60 * minute;

export async function readScannedUntil(tx: Tx): Promise<Date | null> {
  return (await tx.deliveryScan.findUnique({ where: { id: 1 } }))?.scannedUntil ?? null;
}

export async function saveScannedUntil(tx: Tx, scannedUntil: Date): Promise<void> {
  await tx.deliveryScan.upsert({ where: { id: 1 }, create: { scannedUntil }, update: { scannedUntil } });
}

/** Keeps failures that are not known yet; one that has failed again is due later than before. @returns how many. */
export async function keepFailures(db: PrismaClient, failures: Failure[], now: Date): Promise<number> {
  // The same GUID may have failed several times: the last attempt counts.
  const last = new Map<string, bigint>();
  for (const { guid, deliveryId } of failures) {
    const known = last.get(guid);
    if (known === undefined || known < deliveryId) last.set(guid, deliveryId);
  }
  return db.$executeRaw`
    INSERT INTO redeliveries AS known (guid, delivery_id, due_at, seen_at)
    SELECT failed.guid, failed.delivery_id, ${now}, ${now}
    FROM unnest(${[...last.keys()]}::text[], ${[...last.values()]}::bigint[]) AS failed(guid, delivery_id)
    ON CONFLICT (guid) DO UPDATE SET delivery_id = excluded.delivery_id, seen_at = excluded.seen_at,
      due_at = excluded.due_at + least(${longestWait}, ${minute} * power(2, least(known.attempts, 10))) * interval '1 ms'
    WHERE known.delivery_id < excluded.delivery_id`;
}

/** A process that dies between counting an attempt and asking leaves it due after this. */
const answerWithin = 5 * minute;

/** Asks for what is due, each once: the attempt is counted first. */
export async function askBack(
  db: PrismaClient,
  now: Date,
  most: number,
  ask: (deliveryId: bigint) => Promise<void>,
): Promise<void> {
  const due = await db.redelivery.findMany({
    where: { dueAt: { lte: now } },
    orderBy: { dueAt: 'asc' },
    take: most,
  });
  for (const { guid, deliveryId, dueAt } of due) {
    const asked = { dueAt: new Date(now.getTime() + answerWithin), attempts: { increment: 1 } };
    // Of two that read it as due, one asks.
    const { count } = await db.redelivery.updateMany({ where: { guid, dueAt }, data: asked });
    if (count === 0) continue;
    await ask(deliveryId);
    await db.redelivery.updateMany({ where: { guid, deliveryId }, data: { dueAt: null } });
  }
}
