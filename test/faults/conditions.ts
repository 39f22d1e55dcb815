import type { Random } from '../../sandbox/http/random.ts';

/** What the model's conditions look at. */
export type Subject = {
  number: number;
  base: string;
  draft: boolean;
  labels: string[];
  scopes: { names: string[]; all: boolean };
};

/** A condition as the service reads it, and what it means in this test's own words. */
export type Condition = {
  json: unknown;
  /** @param isInverted whether a `not` stands around it. @returns null where that is not known. */
  holds(subject: Subject, at: number, isInverted: boolean): boolean | null;
};

export const labels = ['risky', 'hotfix', 'docs'];
export const bases = ['main', 'release'];
export const scopes = ['payments', 'website'];

const pick = <Item>(random: Random, items: Item[]): Item => items[random.between(0, items.length - 1)]!;

const label = (name: string): Condition => ({
  json: `label=${name}`,
  holds: (subject) => subject.labels.includes(name),
});
const base = (name: string): Condition => ({
  json: `base=${name}`,
  holds: (subject) => subject.base === name,
});
/** A pull request that touches every scope has each of them; whether it is without one is not known. */
const scope = (name: string): Condition => ({
  json: `scope=${name}`,
  holds: ({ scopes: pushed }, _, isInverted) =>
    pushed.all ? (isInverted ? null : true) : pushed.names.includes(name),
});
const draft: Condition = { json: 'draft', holds: (subject) => subject.draft };
const not = (condition: Condition): Condition => ({
  json: typeof condition.json === 'string' ? `-${condition.json}` : { not: condition.json },
  holds(subject, at, isInverted) {
    const holds = condition.holds(subject, at, !isInverted);
    return holds === null ? null : !holds;
  },
});
const either = (one: Condition, other: Condition): Condition => ({
  json: { or: [one.json, other.json] },
  holds: (subject, at, isInverted) => not(all([not(one), not(other)])).holds(subject, at, isInverted),
});
const both = (one: Condition, other: Condition): Condition => ({
  json: { and: [one.json, other.json] },
  holds: all([one, other]).holds,
});

/** What a list of conditions says together: a false one decides, then one that is not known. */
export function all(conditions: Condition[]): Condition {
  return {
    json: conditions.map(({ json }) => json),
    holds(subject, at, isInverted) {
      const verdicts = conditions.map((condition) => condition.holds(subject, at, isInverted));
      return verdicts.includes(false) ? false : verdicts.includes(null) ? null : true;
    },
  };
}

const minute = 60_000;
const day = 1440 * minute;

/** Daily hours in UTC, both ends included. They begin or end some minutes from now, or last for hours around it. */
function schedule(random: Random, now: number): Condition {
  const today = Math.floor((now % day) / minute);
  const from = today + random.between(-5, 8);
  const length = random.chance(0.5) ? random.between(1, 6) : random.between(90, 600);
  const [start, end] = [from, from + length].map((minutes) => (minutes + 1440) % 1440) as [number, number];
  const text = (minutes: number) =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
  return {
    json: `schedule=${text(start)}-${text(end)}`,
    holds: (_, at) => {
      const time = (at % day) / minute;
      return start < end ? start <= time && time <= end : start <= time || time <= end;
    },
  };
}

function leaf(random: Random, now: number): Condition {
  switch (random.weighted({ label: 4, noLabel: 2, base: 2, draft: 1, ready: 2, scope: 3, schedule: 3 })) {
    case 'label':
      return label(pick(random, labels));
    case 'noLabel':
      return not(label(pick(random, labels)));
    case 'base':
      return base(pick(random, bases));
    case 'draft':
      return draft;
    case 'ready':
      return not(draft);
    case 'scope':
      return scope(pick(random, scopes));
    case 'schedule':
      return schedule(random, now);
  }
}

function condition(random: Random, now: number): Condition {
  const [one, other] = [leaf(random, now), leaf(random, now)];
  switch (random.weighted({ leaf: 6, or: 2, and: 1, not: 1 })) {
    case 'or':
      return either(one, other);
    case 'and':
      return both(one, other);
    case 'not':
      return not(either(one, other));
    default:
      return one;
  }
}

/** A list of conditions of random length: often none, rarely two. */
export function conditions(random: Random, now: number, none: number): Condition[] {
  if (random.chance(none)) return [];
  return random.chance(0.8) ? [condition(random, now)] : [condition(random, now), condition(random, now)];
}
