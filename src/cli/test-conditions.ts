import type { Readable, Writable } from 'node:stream';
import { once } from 'node:events';
import { systemClock } from '../time/clock.ts';
import { explain, type ConditionReason } from '../conditions/explain.ts';
import { nextChange, prepareFacts } from '../conditions/match.ts';
import { parseConditions } from '../conditions/parse-conditions.ts';
import {
  type AttributeName,
  attributeNames,
  attributeOf,
  type AttributeValues,
  type CommitFacts,
  type CommitField,
  commitFields,
  type ConditionFacts,
} from '../conditions/attributes.ts';
import type { AttributeType } from '../conditions/attributes/attribute.ts';
import { aliases, refusedNames } from '../conditions/attributes/rows.ts';
import { ParseError } from '../conditions/scanner.ts';
import { suggestNames } from '../conditions/suggest-names.ts';
import { cutText } from '../cut-text.ts';
import { parseTimestamp } from '../conditions/time/timestamp.ts';
import { withoutComments } from '../github/facts/without-comments.ts';

/** A line that cannot be judged, and why. `column`: in the text of a condition, from 1. */
type LineError = { message: string; column: number | null; path?: (string | number)[] };

type LineResult = { match: boolean; reasons: object[]; next_change_at: string | null } | { error: LineError };

/** Judges each line of the input and prints one line for it, in the same order. @returns how many there were. */
export async function testConditions(input: Readable, output: Writable): Promise<number> {
  let lines = 0;
  for await (const line of linesOf(input)) {
    lines++;
    if (!output.write(`${JSON.stringify(answerLine(line))}\n`)) await once(output, 'drain');
  }
  return lines;
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
export function answerLine(line: string): LineResult {
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
  const matcher = prepareFacts(parsed.conditions);
  const { match, reasons } = explain(matcher, facts.value, now);
  const next = nextChange(matcher, facts.value, now);
  return {
    // A condition that cannot be judged does not match. Its reason says so.
    match: match === true,
    reasons: reasons.map(presentTest),
    next_change_at: next === null ? null : new Date(next).toISOString(),
  };
}

const fail = (message: string): { error: LineError } => ({ error: { message, column: null } });

function readJson(line: string): { value: unknown } | { error: LineError } {
  try {
    return { value: JSON.parse(line.replace(/^\uFEFF/, '')) as unknown };
  } catch {
    // As PowerShell writes files.
    if (line.includes('\0')) return fail('This line is in UTF-16, or has NUL. Save the file in UTF-8.');
    return fail('This line is not JSON.');
  }
}

const instantSchema = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

function readNow(value: unknown): number | null {
  if (value === undefined || value === null) return systemClock.now();
  const at = typeof value === 'string' && instantSchema.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? null : at;
}

const presentTest = ({ path, condition, match, saw, more, why, decides }: ConditionReason) => ({
  path: path.slice(1),
  condition,
  match: match === 'unknown' ? null : match,
  saw,
  ...(more > 0 ? { more } : {}),
  ...(why === null ? {} : { error: why }),
  decides,
});

type Result<Value> = { ok: true; value: Value } | { ok: false; message: string };

/** A value of the wrong form. */
class BadValue extends Error {}

/**
 * The facts of a pull request that somebody wrote: each attribute with its value. Attributes that are left out are null
 * or empty. `#files` and `#commits` can differ from the lengths of the lists.
 * @param teams logins by team.
 */
function readFacts(input: unknown, teams: unknown): Result<ConditionFacts> {
  try {
    const values = readValues(object(input, 'pull_request'));
    const members = Object.entries(object(teams, 'teams')).map(
      ([team, logins]) => [team.toLowerCase(), new Set(texts(logins, `teams.${team}`))] as const,
    );
    return { ok: true, value: { values, whyNotKnown: {}, hasEveryScope: false, teams: new Map(members) } };
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    return { ok: false, message: error.message };
  }
}

function readValues(input: Record<string, unknown>): AttributeValues {
  const given = new Map<string, unknown>();
  for (const [written, value] of Object.entries(input)) {
    const name = aliases[written] ?? written;
    if (isKnown(name.replace(/^#/, ''))) given.set(name, value);
    else if (!Object.hasOwn(refusedNames, name)) {
      throw new BadValue(
        `pull_request has no \`${cutText(written, 40)}\`. ${suggestNames(written.slice(0, 40), attributeNames)}`,
      );
    }
  }
  const values: Record<string, unknown> = {};
  for (const name of attributeNames) readValue(name, given, values);
  // Somebody may have copied it from GitHub, in GitHub's form.
  if (typeof values['body'] === 'string') values['body'] = withoutComments(values['body']);
  return values as AttributeValues;
}

const isKnown = (name: string): name is AttributeName => (attributeNames as string[]).includes(name);

function readValue(name: AttributeName, given: Map<string, unknown>, values: Record<string, unknown>): void {
  const { type, rule, hasOwnCount } = attributeOf(name);
  const value = valueOf(type, given.get(name) ?? null, name);
  if (rule === 'check') readChecks(name, value as string[], values);
  else values[name] = value;
  const counted = given.get(`#${name}`) ?? null;
  if (type === 'count' && counted !== null) values[name] = wholeNumber(counted, `#${name}`);
  if (hasOwnCount)
    values[`#${name}`] = counted === null ? (value as unknown[]).length : wholeNumber(counted, `#${name}`);
}

/** `@app/name` is a check of an App. Its bare name means it, too. */
function readChecks(name: string, checks: string[], values: Record<string, unknown>): void {
  const ofApps = checks.filter((check) => /^@[^/]+\/./.test(check));
  values[`@${name}`] = ofApps;
  values[name] = checks.map((check) =>
    ofApps.includes(check) ? check.slice(check.indexOf('/') + 1) : check,
  );
}

function valueOf(type: AttributeType, value: unknown, name: string): unknown {
  switch (type) {
    case 'boolean':
      if (value !== null && typeof value !== 'boolean')
        throw new BadValue(`\`${name}\` is true, false or null.`);
      return value ?? false;
    case 'number':
      return value === null ? NaN : wholeNumber(value, name);
    case 'count':
      if (value === null) return 0;
      return Array.isArray(value) ? value.length : wholeNumber(value, name);
    case 'timestamp':
      return value === null ? null : timestampOf(value, name);
    case 'text':
    case 'choice':
      if (value !== null && typeof value !== 'string') throw new BadValue(`\`${name}\` is a text or null.`);
      return value;
    case 'commits':
      return readCommits(value ?? [], name);
    case 'list':
      return texts(value ?? [], name);
    default:
      return undefined;
  }
}

function readCommits(value: unknown, name: string): CommitFacts[] {
  if (!Array.isArray(value)) throw new BadValue(`\`${name}\` is a list of objects.`);
  return value.map((each, index) => {
    const where = `${name}[${index}]`;
    const commit = object(each, where);
    const wrong = Object.keys(commit).find((field) => !Object.hasOwn(commitFields, field));
    if (wrong !== undefined) {
      throw new BadValue(
        `\`${where}\` has no \`${cutText(wrong, 40)}\`. ${suggestNames(wrong.slice(0, 40), Object.keys(commitFields))}`,
      );
    }
    const fields = Object.entries(commitFields) as [CommitField, AttributeType][];
    return Object.fromEntries(
      fields.map(([field, type]) => [field, valueOf(type, commit[field] ?? null, `${where}.${field}`)]),
    ) as CommitFacts;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function object(value: unknown, name: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new BadValue(`\`${cutText(name, 60)}\` is an object.`);
}

function texts(value: unknown, name: string): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new BadValue(`\`${cutText(name, 60)}\` is a list of texts.`);
}

function wholeNumber(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new BadValue(`\`${name}\` is a whole number.`);
}

function timestampOf(value: unknown, name: string): number {
  try {
    if (typeof value === 'string') return parseTimestamp(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
  throw new BadValue(`\`${name}\` is an instant such as 2026-03-01T09:00:00Z, or null.`);
}
