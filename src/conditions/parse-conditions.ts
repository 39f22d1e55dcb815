import { LRUCache } from 'lru-cache';
import { inSlices } from '../time/slices.ts';
import type { AuthorText, ConditionNode, Leaf, Operator, TextTest } from './ast.ts';
import { ParseError, Scanner } from './scanner.ts';
import {
  allOperators,
  type AttributeType,
  comparisons,
  ranges,
  type ValueRule,
} from './attributes/attribute.ts';
import { aliases, refusedNames } from './attributes/rows.ts';
import {
  type AttributeName,
  attributeNames,
  attributeOf,
  type CommitField,
  commitFields,
} from './attributes.ts';
import { longestLogin as anyAuthor, parseTest } from './parse-test.ts';
import { suggestNames } from './suggest-names.ts';

/** The path of a bad condition, and the character of the problem (from 1; null if it is not text). */
type ConditionProblem = { path: Path; message: string; column: number | null };

type ParseResult = { ok: true; conditions: ConditionNode[] } | { ok: false; problems: ConditionProblem[] };

/** From the reference configuration schema. */
export const mostItems = 500;
/** The maximum depth, because some code recurses over conditions. */
export const deepest = 32;
/** The maximum for one list with all its groups. Parsing 500 groups of 500 would take minutes. */
export const mostConditions = 2000;

/** The maximum characters for one list with all its groups. Each 1000 take up to 10 ms to compile. */
export const longestPatterns = 50_000;

type Path = (string | number)[];
type Reading = { problems: ConditionProblem[]; conditions: number; patterns: number; isCut: boolean };

/**
 * Reads a list of conditions that must all match.
 * @param path of the list, which starts every path in the problems.
 * @returns every bad condition, not only the first.
 */
export function parseConditions(input: unknown, path: Path): ParseResult {
  const reading: Reading = { problems: [], conditions: 0, patterns: 0, isCut: false };
  const conditions = readList(input, path, 0, reading);
  if (reading.isCut) refuse(reading, path, `Send at most ${mostConditions} conditions in all.`);
  const { problems } = reading;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, conditions };
}

function readList(input: unknown, path: Path, depth: number, reading: Reading): ConditionNode[] {
  if (!Array.isArray(input)) return refuse(reading, path, 'Send a list of conditions.') ?? [];
  if (input.length > mostItems) {
    return refuse(reading, path, `Send at most ${mostItems} conditions in one list.`) ?? [];
  }
  return input.flatMap((item, index) => readNode(item, [...path, index], depth, reading) ?? []);
}

function readNode(input: unknown, path: Path, depth: number, reading: Reading): ConditionNode | null {
  if (reading.conditions >= mostConditions) {
    reading.isCut = true;
    return null;
  }
  if (typeof input === 'string') return readLeaf(input, path, reading);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return refuse(
      reading,
      path,
      'A condition is a string, or an object with one of the keys `and`, `or`, `not`.',
    );
  }
  const keys = Object.keys(input);
  const [key] = keys;
  if (keys.length !== 1 || (key !== 'and' && key !== 'or' && key !== 'not')) {
    return refuse(reading, path, 'A group of conditions has exactly one of the keys `and`, `or`, `not`.');
  }
  if (depth >= deepest) {
    return refuse(reading, path, `Conditions can be nested at most ${deepest} levels deep.`);
  }
  const inner = (input as Record<string, unknown>)[key];
  const innerPath = [...path, key];
  if (key === 'not') {
    const node = readNode(inner, innerPath, depth + 1, reading);
    return node && { kind: 'not', node };
  }
  if (Array.isArray(inner) && inner.length === 0) {
    return refuse(reading, path, `\`${key}\` needs at least one condition.`);
  }
  return { kind: key, nodes: readList(inner, innerPath, depth + 1, reading) };
}

function readLeaf(text: string, path: Path, reading: Reading): ConditionNode | null {
  try {
    if (reading.patterns > longestPatterns) {
      return refuse(reading, path, `The patterns of one list may have ${longestPatterns} characters in all.`);
    }
    const { leaf, size, error } = readLeafOnce(text);
    if (!leaf) throw error;
    reading.conditions += 1;
    reading.patterns += size;
    return leaf;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const stop = error.message.endsWith('?') ? '' : '.';
    const message = `Invalid condition '${shorten(text)}'. ${error.message}${stop}`;
    return refuse(reading, path, message, Math.max(1, Math.min(error.offset + 1, text.length)));
  }
}

/** @param size of its pattern, 0 without one. */
type ReadLeaf = { leaf: Leaf; size: number; error?: never } | { leaf: null; size: 0; error: unknown };

/** Conditions that were read lately. A request reads its conditions several times, and freezes have many in common. */
const lately = new LRUCache<string, ReadLeaf>({
  maxSize: 4 * longestPatterns,
  sizeCalculation: ({ size }, text) => text.length + size + 1,
});

function readLeafOnce(text: string): ReadLeaf {
  const known = lately.get(text);
  if (known) return known;
  const read = tryLeaf(text);
  lately.set(text, read);
  return read;
}

function tryLeaf(text: string): ReadLeaf {
  try {
    const leaf = parseLeaf(text);
    const size = leaf.test.type === 'pattern' ? Math.max(text.length, sizeOf(leaf.test.matches)) : 0;
    return { leaf, size };
  } catch (error) {
    return { leaf: null, size: 0, error };
  }
}

/** So few conditions and characters take a few milliseconds at most. */
const fewConditions = 20;
const fewCharacters = 2000;

/**
 * Reads the conditions of long lists in slices, so that others are answered meanwhile. Whoever parses the lists after
 * that takes no time.
 */
export async function parseAhead(...lists: unknown[]): Promise<void> {
  for (const list of lists) {
    const texts = textsIn(list, 0);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    if (texts.length <= fewConditions && length <= fewCharacters) continue;
    let patterns = 0;
    let index = 0;
    await inSlices(() => {
      patterns += readLeafOnce(texts[index++]!).size;
      // Nobody reads the rest either.
      return index < Math.min(texts.length, mostConditions) && patterns <= longestPatterns;
    });
  }
}

function textsIn(input: unknown, depth: number): string[] {
  if (typeof input === 'string') return [input];
  if (typeof input !== 'object' || input === null || depth > 2 * deepest) return [];
  return (Array.isArray(input) ? input : Object.values(input)).flatMap((each) => textsIn(each, depth + 1));
}

/** Repetitions, and alternatives in braces, count as what they stand for. */
const sizeOf = (matches: AuthorText<TextTest>): number =>
  (matches.usesAuthor ? matches.of(anyAuthor) : matches.value).size ?? 0;

/** Notes a problem. It counts as a condition, so that the number of bad conditions is limited too. */
function refuse(reading: Reading, path: Path, message: string, column: number | null = null): null {
  reading.conditions += 1;
  reading.problems.push({ path, message, column });
  return null;
}

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** Every operator of the grammar, longest first, with its meaning. */
const spellings: readonly (readonly [string, Operator])[] = [
  ['==', '='],
  ['!=', '!='],
  ['~=', '~='],
  ['*=', '*='],
  ['>=', '>='],
  ['<=', '<='],
  ['≠', '!='],
  ['≥', '>='],
  ['≤', '<='],
  ['=', '='],
  [':', '='],
  ['>', '>'],
  ['<', '<'],
];

/** The maximum length. Longer conditions are refused, so that they cost no time. */
const longestCondition = 10_000;

/** Reads one condition: `[-][#]attribute[operator value]`, with optional spaces. @throws ParseError */
function parseLeaf(text: string): Leaf {
  const scanner: Scanner = new Scanner(text);
  if (text.length > longestCondition) {
    scanner.fail(`A condition has at most ${longestCondition} characters`, longestCondition - 1);
  }
  if (scanner.isAtEnd()) scanner.fail('Condition empty');
  const negationAt = scanner.at;
  // Has no meaning, but was once allowed.
  scanner.take('+');
  const isNegated = scanner.take('-') || scanner.take('¬');
  const countAt = scanner.at;
  const isCounted = scanner.take('#');
  if (scanner.isAtEnd()) scanner.fail('Incomplete condition');
  const { at } = scanner;
  const subject = parseAttribute(scanner);
  const { name, attribute, commit } = subject;
  const refuseModifier = (modifier: string, place: number) =>
    scanner.fail(`\`${modifier}\` modifier is invalid for attribute: \`${name}\``, place);
  if (isNegated && !allows(subject, '-')) refuseModifier('-', negationAt);
  if (isCounted && !allows(subject, '#')) refuseModifier('#', countAt);
  if (!isCounted && subject.type === 'count') {
    scanner.fail(`\`#\` modifier is required for attribute: \`${name}\`. Write \`#${name}\``, at);
  }
  const test = readTest(scanner, subject, isCounted);
  return { kind: 'leaf', text, attribute, commit, isNegated, isCounted, test };
}

/** A field of one commit can be negated, but has no count or length. */
const allows = ({ attribute, commit }: Subject, modifier: '-' | '#'): boolean =>
  commit
    ? modifier === '-' && commit.field !== 'date_author' && commit.field !== 'date_committer'
    : attributeOf(attribute).modifiers.includes(modifier);

function readTest(scanner: Scanner, subject: Subject, isCounted: boolean): Leaf['test'] {
  const { name, type } = subject;
  if (type === 'boolean') {
    if (scanner.isAtEnd()) return { type: 'is-true' };
    scanner.fail(
      `Operators are invalid for Boolean attribute: \`${name}\`. Write \`${name}\` or \`-${name}\``,
    );
  }
  const operator = isCounted
    ? readOperator(scanner, `#${name}`, comparisons)
    : readOperator(scanner, name, subject.operators);
  const { at } = scanner;
  const value = scanner.text.slice(at).trimEnd();
  try {
    return parseTest({ ...subject, type: isCounted ? 'count' : type }, operator, value);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return scanner.fail(error.message, at + error.offset);
  }
}

function readOperator(scanner: Scanner, name: string, allowed: readonly Operator[]): Operator {
  const list = allowed.map((operator) => `\`${operator}\``).join(', ');
  if (scanner.isAtEnd()) scanner.fail(`Incomplete condition: \`${name}\` needs one of ${list} and a value`);
  const { at } = scanner;
  const operator = spellings.find(([written]) => scanner.take(written))?.[1];
  if (operator && allowed.includes(operator)) return operator;
  return scanner.fail(`Invalid operator. \`${name}\` takes ${list}`, at);
}

/** The attribute of a condition, and the tests that it allows. */
type Subject = {
  /** As it was written: `commits[-1].author`. */
  name: string;
  attribute: AttributeName;
  commit: Leaf['commit'];
  type: AttributeType;
  operators: readonly Operator[];
  rule: ValueRule;
};

/** Longest first: if one name begins with another, the longer one counts. */
const namesByLength = [...attributeNames, ...Object.keys(refusedNames), ...Object.keys(aliases)].sort(
  (one, other) => other.length - one.length,
);

/** Reads the attribute. Suggests similar names if it is unknown. */
function parseAttribute(scanner: Scanner): Subject {
  const start = scanner.at;
  const name = namesByLength.find((candidate) => scanner.take(candidate));
  const more = scanner.match(/[\w-]{0,40}/y)![0];
  // `labels=x` is a typo of `label`, not `label` with the operator `s=`.
  if (name === undefined || more !== '') return scanner.fail(unknownName(`${name ?? ''}${more}`), start);
  const why = refusedNames[name];
  if (why) scanner.fail(`The attribute \`${name}\` cannot be used in a freeze: ${why}`, start);
  const attribute = (aliases[name] ?? name) as AttributeName;
  const { type, operators, rule } = attributeOf(attribute);
  if (type === 'commits' && scanner.take('[')) return parseCommit(scanner, start);
  scanner.skipSpace();
  return { name: attribute, attribute, commit: null, type, operators, rule };
}

const unknownName = (word: string): string =>
  !/[a-z]/i.test(word)
    ? 'Invalid attribute. A name such as `base` or `label` is expected here'
    : `Invalid attribute. ${suggestNames(word, attributeNames)}`;

const commitField = /\s*(\*|-?\d{1,4})\s*\]\.([\w]+)/y;

function parseCommit(scanner: Scanner, start: number): Subject {
  const [, index, field] = scanner.match(commitField) ?? [];
  if (!field) {
    return scanner.fail(
      'Invalid attribute. Write `commits[0].author`, `commits[-1].author` or `commits[*].author`',
    );
  }
  if (!Object.hasOwn(commitFields, field)) {
    const known = Object.keys(commitFields).map((each) => `\`${each}\``);
    scanner.fail(`Invalid attribute. A commit has ${known.join(', ')}`, start);
  }
  scanner.skipSpace();
  const type = commitFields[field as CommitField];
  return {
    name: `commits[${index}].${field}`,
    attribute: 'commits',
    commit: { index: index === '*' ? '*' : Number(index), field: field as CommitField },
    type,
    operators: operatorsOf[type],
    rule: 'any',
  };
}

const operatorsOf = { text: allOperators, boolean: [], timestamp: ranges } as const;
