import type { Outcome } from './figure.ts';
import type { Postgres } from './postgres.ts';

export type Given = {
  /** To try it: everything scaled down, the figures worth nothing. */
  isQuick: boolean;
  /** Null where none is installed. */
  postgres: Postgres | null;
};

/** One file of benchmarks, chosen by its name. */
export type Bench = { name: string; title: string; run(given: Given): Promise<Outcome> };
