import type { Tx } from '../../database/database.ts';

// When GitHub's webhooks were turned away, for the answers of all processes.

/** Milliseconds for which answers tell that webhooks were turned away. */
const toldFor = 60_000;

/** When webhooks were last turned away, if that was within a minute. */
export async function webhooksRefusedAt(tx: Tx, now: Date): Promise<Date | null> {
  const at = (await tx.deliveryScan.findUnique({ where: { id: 1 } }))?.refusedAt ?? null;
  return at && now.getTime() - at.getTime() < toldFor ? at : null;
}

export async function saveRefusedAt(tx: Tx, refusedAt: Date): Promise<void> {
  const create = { scannedUntil: new Date(0), refusedAt };
  await tx.deliveryScan.upsert({ where: { id: 1 }, create, update: { refusedAt } });
}
