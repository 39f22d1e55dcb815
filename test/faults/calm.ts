import { Random } from '../../sandbox/http/random.ts';
import { pullRequestActions } from './actions/pull-requests.ts';
import { differences } from './differences.ts';
import { mend, wrongClaims } from './instant-hold.ts';
import type { MergeWatch } from './merge-watch.ts';
import { everybody, oneOf, type Stage } from './stage.ts';

const changes = 6;
/** After the trouble ends everything is right by then, whatever was lost. Milliseconds of the service's clock. */
const patience = 75_000;
const steps = 5;
/** For a boundary that falls on the end of the bound; before the next sweep comes by itself. */
const margin = 20_000;

/**
 * No faults, and every pause passed: then the service is soon right about all that it can know, also about what
 * changes meanwhile, and nothing frozen can be merged. Returns how many were tried.
 */
export async function calm(stage: Stage, seed: number, watches: MergeWatch[]): Promise<number> {
  const { trouble } = stage;
  const random = new Random(seed);
  const isBlind = (repository: string, number: number) => trouble.isBlind(repository, number);
  stage.log('calm');
  mend(stage, random.chance(0.6));
  stage.machine.measure();
  await settle(stage);
  // In steps: what one of them wakes is done before the next.
  for (let step = 0; step < steps; step += 1) await advance(stage, patience / steps);
  await slowly(stage);
  await expectTruth(stage, 'wrong 75 s after the trouble', (repository) => trouble.isStale(repository));
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
    const one = random.chance(0.3) ? oneOf(random, everybody(stage))! : stage;
    one.log(`${action}: ${pullRequestActions[action]!.act(one, random) ?? 'nothing to do'}`);
    await wait(random.between(20, 200));
  }
  await wait(trouble.bound);
  await slowly(stage);
  await expectTruth(stage, 'wrong in calm weather', isBlind);
  const pressed = watches.reduce((sum, watch) => sum + watch.press(), 0);
  stage.log(`calm ends: ${pressed} frozen pull requests could not be merged`);
  return pressed;
}

/** As long as the pace of statuses takes. */
async function slowly(stage: Stage): Promise<void> {
  for (let passed = 0; passed < stage.trouble.slowness; passed += patience / steps)
    await advance(stage, patience / steps);
}

/** @param mayMiss of which pull requests of a repository the service cannot know how they are. */
async function expectTruth(
  stage: Stage,
  violation: string,
  mayMiss: (repository: string, number: number) => boolean,
): Promise<void> {
  const began = Date.now();
  const isInTime = () => Date.now() - began < stage.machine.allow(margin);
  const wrong = async () => {
    const found = differences(stage, mayMiss);
    return found.length > 0 ? found : wrongClaims(stage);
  };
  let found = await wrong();
  while (found.length > 0 && isInTime()) {
    await wait(100);
    found = await wrong();
  }
  if (stage.trouble.isExcused) stage.log('calm did not last');
  else for (const difference of found) stage.violate(violation, difference);
}

/** Ends the faults, and waits for everything that they delayed. */
export async function settle(stage: Stage): Promise<void> {
  const { github, fleet, trouble } = stage;
  github.chaos.stop();
  for (const { api } of everybody(stage)) api.isFlaky = false;
  await fleet.whole();
  while (trouble.isDatabaseDown) await wait(50);
  await stage.quiet();
}

/** Past every pause and every lease. */
export async function advance({ fleet, time }: Stage, milliseconds = 70_000): Promise<void> {
  await fleet.step(time.step(milliseconds));
  await wait(1_000);
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
