import { Random } from '../../sandbox/http/random.ts';
import { exemptionActions } from './actions/exemptions.ts';
import { freezeActions } from './actions/freezes.ts';
import { instantHoldActions } from './actions/instant-hold.ts';
import { mergeQueueActions } from './actions/merge-queue.ts';
import { databaseRestart, mishaps } from './actions/mishaps.ts';
import { planActions } from './actions/plans.ts';
import { deploymentActions } from './deployments.ts';
import { neighbourActions } from './neighbours.ts';
import { pullRequestActions } from './actions/pull-requests.ts';
import type { Action } from './stage.ts';

/** Every kind of step, as often as its weight says. */
export const actions: Record<string, Action> = {
  ...pullRequestActions,
  ...mergeQueueActions,
  ...freezeActions,
  ...planActions,
  ...exemptionActions,
  ...instantHoldActions,
  ...deploymentActions,
  ...neighbourActions,
  ...mishaps,
  databaseRestart,
};

/** `calm`: the faults stop for a while, and what is frozen must be held. */
export type Step = { action: string; seed: number; pause: number };

const calmEvery = 15_000;

/** The same steps from the same seed. What a step does depends on its own seed and on what there is by then. */
export function writeScript(seed: number, seconds: number): Step[] {
  const random = new Random(seed);
  const weights = Object.fromEntries(Object.entries(actions).map(([name, { weight }]) => [name, weight]));
  const length = seconds * 1000;
  const planned = [
    ...[0.3, 0.7].map((part) => ({ action: 'databaseRestart', at: length * part })),
    ...Array.from({ length: Math.floor(length / calmEvery) }, (_, index) => ({
      action: 'calm',
      at: (index + 1) * calmEvery,
    })),
  ].sort((one, other) => one.at - other.at);
  const steps: Step[] = [];
  for (let at = 0; at < length;) {
    const pause = random.between(20, 350);
    at += pause;
    const action = planned[0] && planned[0].at <= at ? planned.shift()!.action : random.weighted(weights);
    steps.push({ action, seed: random.between(0, 2 ** 31), pause });
  }
  return steps;
}
