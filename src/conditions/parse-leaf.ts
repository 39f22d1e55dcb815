import { LRUCache } from 'lru-cache';
import type { AuthorText, Leaf, Operator, TextTest } from './ast.ts';
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

/** @param size of its pattern, 0 without one. */
type ReadLeaf = { leaf: Leaf; size: number; error?: never } | { leaf: null; size: 0; error: unknown };

/** In characters of texts and steps of patterns: four lists of the largest patterns. */
const mostPatternsKept = 200_000;
/** Conditions that were read lately. A request reads its conditions several times, and freezes have many in common. */
const lately = new LRUCache<string, ReadLeaf>({
  maxSize: mostPatternsKept,
  sizeCalculation: ({ size }, text) => text.length + size + 1,
});

/** Reads one condition, or finds what came of it lately. */
export function readLeafOnce(text: string): ReadLeaf {
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

/** Repetitions, and alternatives in braces, count as what they stand for. */
const sizeOf = (matches: AuthorText<TextTest>): number =>
  (matches.usesAuthor ? matches.of(anyAuthor) : matches.value).size ?? 0;

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
const allows = ({ attribute, commit }: LeafSubject, modifier: '-' | '#'): boolean =>
  commit
    ? modifier === '-' && commit.field !== 'date_author' && commit.field !== 'date_committer'
    : attributeOf(attribute).modifiers.includes(modifier);

function readTest(scanner: Scanner, subject: LeafSubject, isCounted: boolean): Leaf['test'] {
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
type LeafSubject = {
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
function parseAttribute(scanner: Scanner): LeafSubject {
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

function parseCommit(scanner: Scanner, start: number): LeafSubject {
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
