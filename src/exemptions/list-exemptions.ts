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
 * @returns cursors in the place of ids.
 * @throws Refusal invalid for a cursor that is none of ours.
 */
export async function listExemptions(
  { db }: Pick<Deps, 'db'>,
  repository: FoundRepository,
  filter: ExemptionFilter,
  { size, cursor }: { size: number; cursor?: string },
): Promise<ExemptionPage> {
  const beside = cursor === undefined ? null : decode(cursor);
  const page = await pageOfExemptions(db, repository.id, filter, { size, beside });
  if (!page) throw foreignCursor();
  const { exemptions, older, newer } = page;
  return {
    exemptions,
    older: older && encode('older', older),
    newer: newer && encode('newer', newer),
  };
}

const encode = (direction: 'older' | 'newer', id: string): string =>
  Buffer.from(`${direction}:${id}`).toString('base64url');

function decode(cursor: string): { direction: 'older' | 'newer'; id: string } {
  const match = /^(older|newer):([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw foreignCursor();
  return { direction: match[1] as 'older' | 'newer', id: match[2]! };
}

function foreignCursor() {
  const message =
    'This cursor was not made by this service for this repository. Leave it out to start at the newest exemption.';
  return invalid([{ path: ['query', 'cursor'], message, type: 'value_error' }]);
}
