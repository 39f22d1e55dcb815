import type { Sandbox } from '../../sandbox/github.ts';
import type { Random } from '../../sandbox/http/random.ts';
import type { ApiClient } from './api-client.ts';
import type { Fleet } from './fleet.ts';
import type { InstantHold } from './instant-hold.ts';
import type { Machine } from './machine.ts';
import type { Model, Shown } from './model.ts';
import type { Neighbours } from './neighbours.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
import type { ServiceTime } from './service-time.ts';
import type { Trouble } from './trouble.ts';

/** What the steps of the script act on. */
export type Stage = {
  github: Sandbox;
  repository: string;
  api: ApiClient;
  model: Model;
  instantHold: InstantHold | null;
  /** Null on the stages of the neighbours themselves. */
  neighbours: Neighbours | null;
  time: ServiceTime;
  fleet: Fleet;
  /** Null where there is none that may be restarted. */
  postgres: PostgresCluster | null;
  trouble: Trouble;
  /** What bounds in real time are stretched by. */
  machine: Machine;
  /** Work that the script does not wait for. */
  aside(work: Promise<unknown>): void;
  /** Resolves when no such work is under way; the clock moves on until then. */
  quiet(): Promise<void>;
  log(what: string): void;
  /** A broken promise of the service. */
  violate(kind: string, what: string): void;
};

/**
 * One kind of step. It returns what it did, for the log; null where there was nothing to do it with.
 * @param random the step's own: what it draws depends on no other step.
 */
export type Action = { weight: number; act(stage: Stage, random: Random): string | null };

export const oneOf = <Item>(random: Random, items: Item[]): Item | undefined =>
  items[random.between(0, items.length - 1)];

/** The stage of the run and those of its neighbours: what is promised is promised to all of them. */
export const everybody = (stage: Stage): Stage[] => [stage, ...(stage.neighbours?.stages ?? [])];

export const openOnes = ({ github, repository }: Stage): Shown[] =>
  github.pullRequests(repository).filter(({ state }) => state === 'open');
