import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { FoundRepository } from '../installations/find-repository.ts';
import type { ExemptionState } from './exemption.ts';
import { type ExemptionPage, pageOfExemptions } from './exemption-store.ts';

/** Which exemptions to list. */
export type ExemptionFilter = { state?: ExemptionState; pullRequest?: number };

/**
 * A page of a repository's exemptions, newest first.
 * @param cursor opaque, from an earlier page's `older` or `newer`.
 * @throws Refusal invalid for a cursor that is none of ours.
 */
export async function listExemptions(
  { db }: Pick<Deps, 'db'>,
  repository: FoundRepository,
  filter: ExemptionFilter,
  { size, cursor }: { size: number; cursor?: string },
): Promise<ExemptionPage<string>> {
  const beside = cursor === undefined ? null : decode(cursor);
  const page = await pageOfExemptions(db, repository.id, filter, { size, beside });
  const { exemptions, older, newer } = page;
  return {
    exemptions,
    older: older === null ? null : encode('older', older),
    newer: newer === null ? null : encode('newer', newer),
  };
}

const encode = (direction: 'older' | 'newer', serial: bigint): string =>
  Buffer.from(`${direction}:${serial}`).toString('base64url');

function decode(cursor: string): { direction: 'older' | 'newer'; serial: bigint } {
  const match = /^(older|newer):(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (match) return { direction: match[1] as 'older' | 'newer', serial: BigInt(match[2]!) };
  const message = 'This cursor was not made by this service. Leave it out to start at the newest exemption.';
  throw invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
}
