import type { Random } from '../../../sandbox/http/random.ts';
import type { Answer } from '../api-client.ts';
import { conditions, scopes } from '../conditions.ts';
import type { ModelFreeze } from '../model.ts';
import { type Action, oneOf, openOnes, type Stage } from '../stage.ts';

const mostLiving = 4;
/** A request whose client is gone ends within so many milliseconds. */
const longestTry = 5_000;
const second = 1_000;
const minute = 60 * second;

/** What the interface of the service is asked for. Nothing waits for the answer but the model. */
export const freezeActions: Record<string, Action> = {
  freeze: {
    weight: 5,
    act(stage, random) {
      if (ownLiving(stage).length >= mostLiving) return null;
      const now = Math.floor(stage.time.now() / second) * second;
      const start = random.chance(0.6) ? null : now + random.between(3, 240) * second;
      const freeze = {
        reason: `Reason ${random.between(1, 1e9)}`,
        endsAt: someEnd(random, start ?? now),
        matching: conditions(random, now, 0.1),
        exclude: conditions(random, now, 0.6),
      };
      stage.aside(createFreeze(stage, start, freeze));
      return `freeze asked for: ${JSON.stringify(shown({ ...freeze, startsAt: start ?? now }))}`;
    },
  },
  update: onOne(3, (stage, freeze, random) => {
    const now = Math.floor(stage.time.now() / second) * second;
    const change: Change =
      random.chance(0.5) && freeze.endsAt !== Infinity
        ? { endsAt: someEnd(random, Math.max(now, freeze.startsAt)) }
        : random.chance(0.5)
          ? { matching: conditions(random, now, 0.1) }
          : { reason: `Reason ${random.between(1, 1e9)}`, exclude: conditions(random, now, 0.6) };
    stage.aside(update(stage, freeze, change));
    return `freeze ${freeze.id} to change: ${JSON.stringify(shown(change))}`;
  }),
  remove: onOne(3, (stage, freeze) => {
    stage.aside(remove(stage, freeze));
    return `freeze ${freeze.id} to be deleted`;
  }),
  scopes: {
    weight: 4,
    act(stage, random) {
      const pr = oneOf(random, openOnes(stage));
      if (!pr || stage.model.scopesChanging.has(pr.number)) return null;
      const names = scopes.filter(() => random.chance(0.5));
      const all = random.chance(0.1);
      stage.aside(pushScopes(stage, pr.number, { names, all }));
      return `#${pr.number} to have the scopes ${names.join(', ')}${all ? ' and all others' : ''}`;
    },
  },
};

/** Those that no plan made. */
export const ownLiving = ({ model, time }: Stage): ModelFreeze[] =>
  model.living(time.now()).filter(({ planId }) => planId === undefined);

export type Change = Partial<Pick<ModelFreeze, 'reason' | 'endsAt' | 'matching' | 'exclude'>>;

export function someEnd(random: Random, from: number): number {
  switch (random.weighted({ none: 3, far: 3, soon: 5 })) {
    case 'none':
      return Infinity;
    case 'far':
      return from + random.between(120, 1200) * minute;
    case 'soon':
      return from + random.between(20, 900) * second;
  }
}

export async function createFreeze(
  stage: Stage,
  start: number | null,
  freeze: Required<Change>,
): Promise<void> {
  const { model } = stage;
  const body = { ...bodyOf(freeze), timezone: 'UTC', start: start === null ? null : wallClock(start) };
  const answer = await stage.api.call('POST', freezesOf(stage), body);
  if (answer.status === 201) {
    const { id, start: startText } = answer.body;
    const startsAt = Date.parse(`${startText}Z`);
    model.freezes.push({ ...freeze, id, startsAt, isDeleted: false, isChanging: false });
    stage.log(`freeze ${id} is created`);
  } else if (!(answer.status === 422 && freeze.endsAt <= stage.time.now())) {
    stage.violate('unexpected answer', `to a new freeze: ${say(answer)}`);
  }
}

async function update(stage: Stage, freeze: ModelFreeze, change: Change): Promise<void> {
  await changing([freeze], async () => {
    const answer = await stage.api.call('PATCH', `${freezesOf(stage)}/${freeze.id}`, bodyOf(change));
    const now = stage.time.now();
    const isOver = (change.endsAt ?? Infinity) <= now;
    if (answer.status === 200) Object.assign(freeze, change);
    // It may have been changed by an earlier try, and have ended by now; or that try was under way, and it has not ended.
    else if (answer.status === 404 && answer.tries > 1 && (isOver || (await isKept(stage, freeze))))
      Object.assign(freeze, change);
    else if (answer.status !== 404 || now < freeze.endsAt) {
      stage.violate('unexpected answer', `to a change of ${freeze.id}: ${say(answer)}`);
    }
    stage.log(`freeze ${freeze.id} changed: ${answer.status}`);
  });
}

/** Whether it is there after all that was asked is done. */
async function isKept({ api, ...stage }: Stage, { id }: ModelFreeze): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, longestTry));
  const { body } = await api.call('GET', freezesOf(stage));
  return (body.scheduled_freezes as { id: string }[]).some((each) => each.id === id);
}

async function remove(stage: Stage, freeze: ModelFreeze): Promise<void> {
  await changing([freeze], async () => {
    const path = `${freezesOf(stage)}/${freeze.id}/delete`;
    const answer = await stage.api.call('POST', path, { delete_reason: 'Done' });
    if (answer.status === 204) freeze.isDeleted = true;
    else if (answer.status !== 404 || stage.time.now() < freeze.endsAt) {
      stage.violate('unexpected answer', `to the deletion of ${freeze.id}: ${say(answer)}`);
    }
    stage.log(`freeze ${freeze.id} deleted: ${answer.status}`);
  });
}

async function pushScopes(stage: Stage, number: number, given: { names: string[]; all: boolean }) {
  const { model, api, repository } = stage;
  model.scopesChanging.add(number);
  try {
    const body = { scopes: given.names, all_scopes: given.all };
    const answer = await api.call('PUT', `/v1/repos/${repository}/pulls/${number}/scopes`, body, 'ci');
    if (answer.status === 204) model.setScopes(number, given);
    else stage.violate('unexpected answer', `to scopes of #${number}: ${say(answer)}`);
  } finally {
    model.scopesChanging.delete(number);
  }
}

export async function changing(freezes: ModelFreeze[], work: () => Promise<void>): Promise<void> {
  for (const freeze of freezes) freeze.isChanging = true;
  try {
    await work();
  } finally {
    for (const freeze of freezes) freeze.isChanging = false;
  }
}

/** A step on one of the living freezes that nobody changes now. */
function onOne(weight: number, act: (stage: Stage, freeze: ModelFreeze, random: Random) => string): Action {
  return {
    weight,
    act(stage, random) {
      const free = ownLiving(stage).filter(({ isChanging }) => !isChanging);
      const freeze = oneOf(random, free);
      return freeze ? act(stage, freeze, random) : null;
    },
  };
}

export const freezesOf = ({ repository }: Pick<Stage, 'repository'>): string =>
  `/v1/repos/${repository}/scheduled_freeze`;

/** The interface's words for what is given. */
export function bodyOf({ reason, endsAt, matching, exclude }: Change): object {
  const json = (list: ModelFreeze['matching'] | undefined) => list?.map((condition) => condition.json);
  const end = endsAt === undefined ? undefined : endsAt === Infinity ? null : wallClock(endsAt);
  return { reason, end, matching_conditions: json(matching), exclude_conditions: json(exclude) };
}

export const shown = ({ startsAt, ...change }: Change & { startsAt?: number }) => ({
  ...(startsAt && { start: wallClock(startsAt) }),
  ...bodyOf(change),
});

export const wallClock = (instant: number) => new Date(instant).toISOString().slice(0, 19);
export const say = ({ status, body }: Answer) => `${status} ${JSON.stringify(body)}`;
