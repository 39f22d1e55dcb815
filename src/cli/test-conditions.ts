import type { Readable, Writable } from 'node:stream';
import { once } from 'node:events';
import { systemClock } from '../time/clock.ts';
import { explain, type Reason } from '../conditions/explain.ts';
import { prepare, nextChange } from '../conditions/match.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import { isObject, readFacts } from './read-facts.ts';

/** A line that cannot be judged, and why. `column`: in the text of a condition, from 1. */
type LineError = { message: string; column: number | null; path?: (string | number)[] };

type Answer = { match: boolean; reasons: object[]; next_change_at: string | null } | { error: LineError };

/** Judges each line of the input and prints one line for it, in the same order. */
export async function testConditions(input: Readable, output: Writable): Promise<void> {
  for await (const line of linesOf(input)) {
    if (!output.write(`${JSON.stringify(answerLine(line))}\n`)) await once(output, 'drain');
  }
}

/** Splits only at line feeds, and not at the separators of Unicode, which JSON allows in texts. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString('utf8');
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString('utf8');
}

/** An answer for every line, valid or not. */
export function answerLine(line: string): Answer {
  const input = readJson(line);
  if ('error' in input) return input;
  const { value } = input;
  if (!isObject(value)) return fail('A line is a JSON object with `condition` and `pull_request`.');
  if (!('condition' in value)) return fail('`condition` is missing.');
  const parsed = parseConditions([value['condition']], []);
  if (!parsed.ok) {
    const { message, column, path } = parsed.problems[0]!;
    return { error: { message, column, path: path.slice(1) } };
  }
  const now = readNow(value['now']);
  if (now === null) return fail('`now` is not an instant. Send one such as 2026-03-01T09:00:00Z.');
  const facts = readFacts(value['pull_request'] ?? {}, value['teams'] ?? {});
  if (!facts.ok) return fail(facts.message);
  const matcher = prepare(parsed.conditions);
  const { match, reasons } = explain(matcher, facts.value, now);
  const next = nextChange(matcher, facts.value, now);
  return {
    // A condition that cannot be judged does not match. Its reason says so.
    match: match === true,
    reasons: reasons.map(present),
    next_change_at: next === null ? null : new Date(next).toISOString(),
  };
}

const fail = (message: string): Answer => ({ error: { message, column: null } });

function readJson(line: string): { value: unknown } | { error: LineError } {
  try {
    return { value: JSON.parse(line) as unknown };
  } catch {
    return { error: { message: 'This line is not JSON.', column: null } };
  }
}

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function readNow(value: unknown): number | null {
  if (value === undefined || value === null) return systemClock.now();
  const at = typeof value === 'string' && instant.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : at;
}

const present = ({ path, condition, match, saw, more, why, decides }: Reason) => ({
  path: path.slice(1),
  condition,
  match: match === 'unknown' ? null : match,
  saw,
  ...(more > 0 ? { more } : {}),
  ...(why === null ? {} : { error: why }),
  decides,
});
