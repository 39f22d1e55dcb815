import type { AuthDeps } from './auth/auth-deps.ts';
import type { Changes } from './database/changes.ts';
import type { Database } from './database/database.ts';
import type { StatusDeps } from './statuses/status-deps.ts';
import type { Witnesses } from './time/witnesses.ts';

/** What use cases need from outside, of all rooms together. Tests pass their own clock and GitHub. */
export type Deps = AuthDeps &
  StatusDeps & {
    /** What is wrong with the database now. */
    trouble: Database['trouble'];
    /** Keeps the database small and quick, if its server does not. */
    keepUp: Database['keepUp'];
    /** What changed of what pages show. */
    changes: Changes;
    /** Who tells whether the clock is right. */
    witnesses: Witnesses;
  };
