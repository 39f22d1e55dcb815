import { Random } from '../../sandbox/http/random.ts';
import { pullRequestActions } from './actions/pull-requests.ts';
import { differences } from './differences.ts';
import type { MergeWatch } from './merge-watch.ts';
import type { Stage } from './stage.ts';
import { bound } from './trouble.ts';

const changes = 6;
/** For a whole look and its writes. */
const settling = 2_000;
/** For a boundary that falls on the end of the bound, and for a busy machine; before the next sweep comes by itself. */
const margin = 20_000;

/**
 * No faults, and every pause passed: then the service is soon right about all that it can know, also about what
 * changes meanwhile, and nothing frozen can be merged. Returns how many were tried.
 */
export async function calm(stage: Stage, seed: number, merges: MergeWatch): Promise<number> {
  const { trouble } = stage;
  const random = new Random(seed);
  const isBlind = (number: number) => trouble.isBlind(number);
  stage.log('calm');
  await settle(stage);
  // The first finds the jobs of dead processes, the second those tried again.
  await advance(stage);
  await advance(stage);
  askForWholeLook(stage);
  await wait(settling);
  for (let count = 0; count < changes; count += 1) {
    const action = random.weighted({
      label: 3,
      unlabel: 2,
      draft: 1,
      ready: 2,
      retarget: 1,
      push: 1,
      open: 1,
    });
    stage.log(`${action}: ${pullRequestActions[action]!.act(stage, random) ?? 'nothing to do'}`);
    await wait(random.between(20, 200));
  }
  await wait(bound);
  const deadline = Date.now() + margin;
  while (differences(stage, isBlind).length > 0 && Date.now() < deadline) await wait(100);
  if (trouble.isExcused) stage.log('calm did not last');
  else
    for (const difference of differences(stage, isBlind)) stage.violate('wrong in calm weather', difference);
  const pressed = merges.press();
  stage.log(`calm ends: ${pressed} frozen pull requests could not be merged`);
  return pressed;
}

/**
 * Has everything looked at, as an event of the installation does: without it, what the service missed it may know
 * only an hour later. Not part of the last check, where the service finds it out by itself.
 */
export function askForWholeLook({ github }: Stage): void {
  github.acceptPermissions('acme', github.app.permissions);
}

/** Ends the faults, and waits for everything that they delayed. */
export async function settle(stage: Stage): Promise<void> {
  const { github, api, fleet, trouble } = stage;
  github.chaos.stop();
  api.isFlaky = false;
  await fleet.whole();
  while (trouble.isDatabaseDown) await wait(50);
  await stage.quiet();
}

/** Past every pause and every lease. */
export async function advance({ fleet, time }: Stage): Promise<void> {
  await fleet.step(time.step(70_000));
  await wait(1_000);
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
