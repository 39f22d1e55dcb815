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
import { parseTimestamp } from '../conditions/time/timestamp.ts';
import { withoutComments } from '../github/facts/without-comments.ts';

type Result<Value> = { ok: true; value: Value } | { ok: false; message: string };

/** A value of the wrong form. */
class BadValue extends Error {}

/**
 * The facts of a pull request that somebody wrote: each attribute with its value. Attributes that are left out are null
 * or empty. `#files` and `#commits` can differ from the lengths of the lists.
 * @param teams logins by team.
 */
export function readFacts(input: unknown, teams: unknown): Result<ConditionFacts> {
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
        `pull_request has no \`${written.slice(0, 40)}\`. ${suggestNames(written.slice(0, 40), attributeNames)}`,
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
      return value === null ? null : instantOf(value, name);
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
        `\`${where}\` has no \`${wrong.slice(0, 40)}\`. ${suggestNames(wrong.slice(0, 40), Object.keys(commitFields))}`,
      );
    }
    const fields = Object.entries(commitFields) as [CommitField, AttributeType][];
    return Object.fromEntries(
      fields.map(([field, type]) => [field, valueOf(type, commit[field] ?? null, `${where}.${field}`)]),
    ) as CommitFacts;
  });
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function object(value: unknown, name: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new BadValue(`\`${name.slice(0, 60)}\` is an object.`);
}

function texts(value: unknown, name: string): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new BadValue(`\`${name.slice(0, 60)}\` is a list of texts.`);
}

function wholeNumber(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new BadValue(`\`${name}\` is a whole number.`);
}

function instantOf(value: unknown, name: string): number {
  try {
    if (typeof value === 'string') return parseTimestamp(value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
  }
  throw new BadValue(`\`${name}\` is an instant such as 2026-03-01T09:00:00Z, or null.`);
}
