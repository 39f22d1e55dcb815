import type { StoredFreeze } from '../../freezes/freeze-columns.ts';
import { isForgotten } from '../../freezes/freeze.ts';
import type { Finding } from './finding.ts';
import type { Place } from './remedies.ts';

const mostNamed = 5;

/** Freezes that somebody may have forgotten. @param freezes the freezes that are not over. */
export function judgeForgotten(freezes: StoredFreeze[], now: Date, { repository }: Place): Finding[] {
  const forgotten = freezes.filter((freeze) => isForgotten(freeze, now));
  if (forgotten.length === 0) return [];
  const named = forgotten
    .slice(0, mostNamed)
    .map(({ id, startsAt }) => `${id} (since ${startsAt.toISOString().slice(0, 10)})`);
  const more = forgotten.length - named.length;
  const finding: Finding = {
    check: 'forgotten',
    state: 'warning',
    message: `Freezes without an end have been ongoing for two weeks or longer: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
    remedy: `If nobody needs them, delete them with POST /v1/repos/${repository}/scheduled_freeze/{id}/delete, or set an end with PATCH.`,
  };
  return [finding];
}
