// What sets an answer of the sandbox apart from the one that GitHub was recorded to give.
import { at, type Answered, type Json } from './recording.ts';

/** Keys that the sandbox leaves out because nothing reads them: addresses, counters and switches of what it hasn't got. */
export const isLeftOut = (key: string): boolean =>
  /(?:_url|_count)$|^(?:url|_links|has_\w+|allow_\w+|forks|watchers|open_issues|size|language|license|homepage|topics|user_view_type)$/.test(
    key,
  );

const bodiless = new Set([204, 304]);

/** One sentence for each difference. */
export function differences({ exchange, answer }: Answered): string[] {
  const { response: recorded, partial = false, absent = [] } = exchange;
  const found: string[] = [];
  if (answer.status !== recorded.status)
    found.push(`the status is ${answer.status}, at GitHub it is ${recorded.status}`);
  for (const [name, value] of Object.entries(recorded.headers ?? {})) {
    const ours = answer.headers.get(name);
    if (value === '*' ? ours === null : ours !== value)
      found.push(`the header ${name} is ${ours}, at GitHub it is ${value}`);
  }
  for (const key of ['message', 'errors']) {
    const [ours, theirs] = [at(answer.body, key), at(recorded.body, key)];
    if (typeof theirs !== 'undefined' && JSON.stringify(ours) !== JSON.stringify(theirs))
      found.push(`${key} is ${JSON.stringify(ours)}, at GitHub it is ${JSON.stringify(theirs)}`);
  }
  const body = recorded.body ?? (bodiless.has(recorded.status) ? null : undefined);
  if (answer.status === recorded.status && body !== undefined)
    found.push(...shapeDifferences(answer.body, body, { partial, place: 'the body' }));
  for (const path of absent)
    if (at(answer.body, path) !== undefined) found.push(`${path} is there, at GitHub it is not`);
  return found;
}

type Within = { partial: boolean; place: string };

function shapeDifferences(ours: Json, theirs: Json, { partial, place }: Within): string[] {
  // It can be null. What else it can be, this recording does not show.
  if (theirs === null && place !== 'the body') return [];
  const kinds = [kindOf(ours), kindOf(theirs)];
  if (kinds[0] !== kinds[1]) return [`${place} is ${kinds[0]}, at GitHub it is ${kinds[1]}`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    if (theirs.length === 0 || ours.length === 0)
      return theirs.length === ours.length
        ? []
        : [`${place} has ${ours.length} items, at GitHub ${theirs.length}`];
    return shapeDifferences(common(ours), common(theirs), { partial, place: `${place}[]` });
  }
  if (kinds[1] === 'an instant' && /\.\d/.test(String(ours))) return [`${place} has parts of a second`];
  if (kinds[1] !== 'an object') return [];
  const [mine, their] = [ours as Record<string, Json>, theirs as Record<string, Json>];
  const named = (key: string) => (place === 'the body' ? key : `${place}.${key}`);
  return [
    ...Object.keys(their).flatMap((key) => {
      if (key in mine) return shapeDifferences(mine[key]!, their[key]!, { partial, place: named(key) });
      return isLeftOut(key) ? [] : [`${named(key)} is not there, at GitHub it is`];
    }),
    ...Object.keys(mine)
      .filter((key) => !partial && !(key in their) && !isLeftOut(key))
      .map((key) => `${named(key)} is there, at GitHub it is not`),
  ];
}

/** The keys that all items of a list have, with values of the first one; a value that is null in one is null. */
function common(list: Json[]): Json {
  const [first] = list;
  if (first === null || typeof first !== 'object' || Array.isArray(first)) return first!;
  return Object.fromEntries(
    Object.entries(first)
      .filter(([key]) => list.every((each) => key in (each as object)))
      .map(([key, value]) => {
        const isNull = list.some((each) => (each as Record<string, Json>)[key] === null);
        return [key, isNull ? null : value];
      }),
  );
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? 'an instant' : 'a string';
  return `a ${typeof value}`;
}
