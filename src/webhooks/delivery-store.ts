import type { Tx } from '../database/database.ts';

// Stores which deliveries became jobs, and up to when we read GitHub's list of failed deliveries.

/** A delivery with GitHub's GUID, which stays the same on redelivery. */
type Named = { guid: string; event: string };

export async function readScannedUntil(tx: Tx): Promise<Date | null> {
  return (await tx.deliveryScan.findUnique({ where: { id: 1 } }))?.scannedUntil ?? null;
}

export async function saveScannedUntil(tx: Tx, scannedUntil: Date): Promise<void> {
  await tx.deliveryScan.upsert({ where: { id: 1 }, create: { scannedUntil }, update: { scannedUntil } });
}

/** The failed deliveries without jobs, each once: the first one in the list. */
export async function recallFresh<Delivery extends Named>(tx: Tx, failed: Delivery[]): Promise<Delivery[]> {
  const byGuid = new Map<string, Delivery>();
  for (const delivery of failed) if (!byGuid.has(delivery.guid)) byGuid.set(delivery.guid, delivery);
  const known = await tx.webhookDelivery.findMany({
    where: { guid: { in: [...byGuid.keys()] } },
    select: { guid: true },
  });
  for (const { guid } of known) byGuid.delete(guid);
  return [...byGuid.values()];
}

/** Saves lost deliveries with the jobs that replace them. */
export async function saveLost(tx: Tx, lost: Named[], receivedAt: Date): Promise<void> {
  await tx.webhookDelivery.createMany({
    data: lost.map(({ guid, event }) => ({ guid, event, receivedAt, isLost: true })),
    skipDuplicates: true,
  });
}
