import type { Random } from '../../../sandbox/http/random.ts';
import { conditions } from '../conditions.ts';
import type { ModelFreeze } from '../model.ts';
import { type Action, oneOf, type Stage } from '../stage.ts';
import { bodyOf, type Change, changing, say, shown, someEnd, wallClock } from './freezes.ts';

const mostLiving = 2;
const second = 1_000;
const day = 86_400 * second;
const plans = '/v1/freeze_plans/acme';

/** Plans of the one repository, once or on three days. What they make is in the model as any freeze is. */
export const planActions: Record<string, Action> = {
  plan: {
    weight: 3,
    act(stage, random) {
      if (livingPlans(stage).size >= mostLiving) return null;
      const now = Math.floor(stage.time.now() / second) * second;
      const start = random.chance(0.5) ? null : now + random.between(3, 240) * second;
      const days = random.chance(0.5) ? 1 : 3;
      const end = someEnd(random, start ?? now);
      const plan = {
        reason: `Plan ${random.between(1, 1e9)}`,
        // What repeats has an end.
        endsAt: days > 1 && end === Infinity ? (start ?? now) + 900 * second : end,
        matching: conditions(random, now, 0.1),
        exclude: conditions(random, now, 0.6),
      };
      stage.aside(create(stage, start, days, plan));
      return `plan of ${days} days asked for: ${JSON.stringify(shown({ ...plan, startsAt: start ?? now }))}`;
    },
  },
  changePlan: onOne(2, (stage, id, freezes, random) => {
    const now = Math.floor(stage.time.now() / second) * second;
    const [first] = freezes as [ModelFreeze];
    const change: Change =
      random.chance(0.5) && first.endsAt !== Infinity
        ? {
            endsAt: Math.min(
              someEnd(random, Math.max(now, first.startsAt)),
              first.startsAt + 20 * 3600 * second,
            ),
          }
        : { reason: `Plan ${random.between(1, 1e9)}`, exclude: conditions(random, now, 0.6) };
    stage.aside(update(stage, id, freezes, change));
    return `plan ${id} to change: ${JSON.stringify(shown(change))}`;
  }),
  removePlan: onOne(2, (stage, id, freezes) => {
    stage.aside(remove(stage, id, freezes));
    return `plan ${id} to be deleted`;
  }),
};

/** The model's name of a freeze that a plan made. @param start its wall-clock start, in UTC. */
export const freezeIdOf = (planId: string, start: string): string => `${planId}@${start}`;

async function create(
  stage: Stage,
  start: number | null,
  days: number,
  plan: Required<Change>,
): Promise<void> {
  const body = {
    ...bodyOf(plan),
    name: 'Plan',
    repositories: { include: ['web'] },
    timezone: 'UTC',
    start: start === null ? null : wallClock(start),
    recurrence: days === 1 ? null : { rule: `FREQ=DAILY;COUNT=${days}` },
  };
  const answer = await stage.api.call('POST', plans, body);
  if (answer.status === 201) {
    const { id, start: startText } = answer.body;
    for (let at = 0; at < days; at++) {
      const startsAt = Date.parse(`${startText}Z`) + at * day;
      const window = { startsAt, endsAt: plan.endsAt + at * day };
      const own = { id: freezeIdOf(id, wallClock(startsAt)), planId: id };
      stage.model.freezes.push({ ...plan, ...window, ...own, isDeleted: false, isChanging: false });
    }
    stage.log(`plan ${id} is created`);
  } else if (!(answer.status === 422 && plan.endsAt <= stage.time.now())) {
    stage.violate('unexpected answer', `to a new plan: ${say(answer)}`);
  }
}

/** Of what has ended nothing changes; the others keep their days. */
async function update(stage: Stage, id: string, freezes: ModelFreeze[], change: Change): Promise<void> {
  await changing(freezes, async () => {
    // The service counts from the first day, of which the model may have forgotten nothing.
    const first = stage.model.freezes.find(({ planId }) => planId === id)!;
    const days = ({ startsAt }: ModelFreeze) => Math.round((startsAt - first.startsAt) / day) * day;
    const [next] = freezes as [ModelFreeze];
    const endsAt = change.endsAt === undefined ? undefined : change.endsAt - days(next);
    const answer = await stage.api.call('PATCH', `${plans}/${id}`, bodyOf({ ...change, endsAt }));
    const now = stage.time.now();
    if (answer.status === 200)
      for (const freeze of freezes)
        Object.assign(freeze, change, endsAt === undefined ? {} : { endsAt: endsAt + days(freeze) });
    else if (answer.status !== 404 || freezes.some((freeze) => now < freeze.endsAt))
      stage.violate('unexpected answer', `to a change of plan ${id}: ${say(answer)}`);
    stage.log(`plan ${id} changed: ${answer.status}`);
  });
}

async function remove(stage: Stage, id: string, freezes: ModelFreeze[]): Promise<void> {
  await changing(freezes, async () => {
    const answer = await stage.api.call('POST', `${plans}/${id}/delete`, { delete_reason: 'Done' });
    if (answer.status === 204) for (const freeze of freezes) freeze.isDeleted = true;
    else if (answer.status !== 404 || freezes.some((freeze) => stage.time.now() < freeze.endsAt))
      stage.violate('unexpected answer', `to the deletion of plan ${id}: ${say(answer)}`);
    stage.log(`plan ${id} deleted: ${answer.status}`);
  });
}

/** The living freezes of each plan, the earliest first. */
const livingPlans = ({ model, time }: Stage): Map<string | undefined, ModelFreeze[]> =>
  Map.groupBy(
    model.living(time.now()).filter(({ planId }) => planId !== undefined),
    ({ planId }) => planId,
  );

/** A step on one of the living plans that nobody changes now. */
function onOne(
  weight: number,
  act: (stage: Stage, id: string, freezes: ModelFreeze[], random: Random) => string,
): Action {
  return {
    weight,
    act(stage, random) {
      const free = [...livingPlans(stage)].filter(([, freezes]) => !freezes[0]!.isChanging);
      const plan = oneOf(random, free);
      return plan ? act(stage, plan[0]!, plan[1], random) : null;
    },
  };
}
