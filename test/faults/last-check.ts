import { scopes } from './conditions.ts';
import { bodyOf, freezesOf } from './actions/freezes.ts';
import { freezeIdOf } from './actions/plans.ts';
import { differences } from './differences.ts';
import { mend, wrongClaims } from './instant-hold.ts';
import type { ModelExemption } from './model.ts';
import { everybody, openOnes, type Stage } from './stage.ts';

/** Longer than the hour after which everything is looked at in full. */
const pastFullCheck = 65 * 60_000;
const patience = 45_000;

/** With faults off and every process up: what is shown and what is kept is what the model says. */
export async function lastCheck(stage: Stage): Promise<void> {
  mend(stage, true);
  await stage.fleet.step(stage.time.step(pastFullCheck));
  stage.machine.measure();
  const began = Date.now();
  const isInTime = () => Date.now() - began < stage.machine.allow(patience);
  while (differences(stage).length > 0 && isInTime()) await wait(200);
  while ((await wrongClaims(stage)).length > 0 && isInTime()) await wait(200);
  // It stays so.
  await wait(1_000);
  for (const difference of [...differences(stage), ...(await wrongClaims(stage))])
    stage.violate('wrong at the end', difference);
  for (const each of everybody(stage)) {
    await checkFreezes(each);
    await checkExemptions(each);
    await checkScopes(each);
  }
  await stage.neighbours!.lastCheck(stage);
}

/** The list has each freeze that was acknowledged, as it was acknowledged, and no other. */
async function checkFreezes(stage: Stage): Promise<void> {
  const { body } = await stage.api.call('GET', freezesOf(stage));
  type Listed = { id: string; start: string; timezone: string; plan_id?: string; holds?: string[] };
  const keyOf = ({ id, plan_id, start }: Listed) => (plan_id ? freezeIdOf(plan_id, start) : id);
  // Those that hold deployments have a model of their own.
  const ofMerges = (body.scheduled_freezes as Listed[]).filter(
    ({ holds }) => !holds?.includes('deployments'),
  );
  const listed = new Map(ofMerges.map((freeze) => [keyOf(freeze), freeze]));
  for (const freeze of stage.model.living(stage.time.now())) {
    const kept = listed.get(freeze.id);
    listed.delete(freeze.id);
    if (!kept) {
      stage.violate('acknowledged and lost', `freeze ${freeze.id}`);
      continue;
    }
    const { id: _id, start, timezone: _zone, plan_id: _plan, ...rest } = kept;
    const isSame = Date.parse(`${start}Z`) === freeze.startsAt && sameJson(rest, bodyOf(freeze));
    if (!isSame) {
      stage.violate('acknowledged and lost', `freeze ${freeze.id} is ${JSON.stringify(kept)}`);
    }
  }
  for (const id of listed.keys()) stage.violate('never asked for, or deleted', `freeze ${id}`);
}

/** Each exemption that was acknowledged is there, and in the state that was, unless it has ended since. */
async function checkExemptions({ api, repository, github, model, time, violate }: Stage): Promise<void> {
  const { body } = await api.call('GET', `/v1/repos/${repository}/exemptions?per_page=100`);
  type Listed = { id: string; state: string };
  const listed = new Map((body.exemptions as Listed[]).map(({ id, state }) => [id, state]));
  const isRight = (exemption: ModelExemption, state: string | undefined) => {
    if (exemption.state === 'denied' || exemption.state === 'revoked') return state === exemption.state;
    const isOver = model.isOver(exemption, github.pullRequest(repository, exemption.number), time.now());
    return isOver ? state === 'expired' || state === 'used' : state === exemption.state;
  };
  for (const exemption of model.exemptions.slice(-100)) {
    const state = listed.get(exemption.id);
    if (isRight(exemption, state)) continue;
    const { id, ...said } = exemption;
    violate('acknowledged and lost', `exemption ${id} is ${state}, and was ${JSON.stringify(said)}`);
  }
}

/** The pull requests that a freeze of each scope would hold are those that have it. */
async function checkScopes(stage: Stage): Promise<void> {
  for (const scope of scopes) {
    const body = { reason: 'Test', start: null, timezone: 'UTC', matching_conditions: [`scope=${scope}`] };
    const answer = await stage.api.call('POST', `${freezesOf(stage)}/preview?per_page=100`, body);
    type Previewed = { pull_request: { number: number } };
    const kept = (answer.body.pull_requests as Previewed[]).map(({ pull_request }) => pull_request.number);
    const acknowledged = openOnes(stage)
      .map(({ number }) => number)
      .filter((number) => {
        const { names, all } = stage.model.scopesOf(number);
        return all || names.includes(scope);
      });
    if (String(kept) !== String(acknowledged)) {
      stage.violate('acknowledged and lost', `scope ${scope}: kept on ${kept}, pushed to ${acknowledged}`);
    }
  }
}

const sameJson = (one: object, other: object) => {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).sort());
  return sorted(one) === sorted(other);
};

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
