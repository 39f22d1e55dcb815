import type { Tx } from '../database/database.ts';

// Which deliveries were turned into jobs, and up to when GitHub's list of failed ones was read.

/** A delivery by GitHub's GUID, which it keeps when it is sent again. */
type Named = { guid: string; event: string };

export async function readScannedUntil(tx: Tx): Promise<Date | null> {
  return (await tx.deliveryScan.findUnique({ where: { id: 1 } }))?.scannedUntil ?? null;
}

export async function saveScannedUntil(tx: Tx, scannedUntil: Date): Promise<void> {
  await tx.deliveryScan.upsert({ where: { id: 1 }, create: { scannedUntil }, update: { scannedUntil } });
}

/** Of failed deliveries those that no jobs stand for yet, each once, the first one listed. */
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

/** Keeps deliveries that were lost, with the jobs that stand for them. */
export async function saveLost(tx: Tx, lost: Named[], receivedAt: Date): Promise<void> {
  await tx.webhookDelivery.createMany({
    data: lost.map(({ guid, event }) => ({ guid, event, receivedAt, isLost: true })),
    skipDuplicates: true,
  });
}
