import { type Phase, phaseOf } from '../../freezes/freeze-window.ts';
import type { FreezeRecord } from '../../freezes/list-freezes.ts';

export type FreezeState = Phase | 'deleted';

export const stateOf = (freeze: FreezeRecord, now: Date): FreezeState =>
  freeze.deletion ? 'deleted' : phaseOf(freeze, now);

export const stateWords: Record<FreezeState, string> = {
  scheduled: 'Scheduled',
  ongoing: 'Ongoing',
  ended: 'Ended',
  deleted: 'Deleted',
};
