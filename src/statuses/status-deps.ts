// `statuses/` holds pull requests: it observes them, judges what each commit status should say, saves that, and writes
// what differs to GitHub at its pace. `instant-hold/` holds at once by a ruleset until the statuses do.
import type { FreezeDeps } from '../freezes/freeze-deps.ts';
import type { OwnWrites } from './own-writes.ts';

/** What judges and writes statuses needs this. */
export type StatusDeps = FreezeDeps & {
  /** What this process writes to GitHub. */
  ownWrites: OwnWrites;
};
