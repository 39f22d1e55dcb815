import type { Leaf, Operator } from './ast.ts';
import { attributeOf } from './attributes.ts';
import { ConditionError } from './condition-error.ts';
import { parseAttribute, type Subject } from './parse-attribute.ts';
import { parseTest } from './parse-test.ts';
import { Scanner } from './scanner.ts';

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
export const longestCondition = 10_000;

/**
 * Reads one condition: `[-][#]attribute[operator value]`, with optional spaces.
 * @throws ConditionError
 */
export function parseLeaf(text: string): Leaf {
  if (text.length > longestCondition) {
    throw new ConditionError(`A condition has at most ${longestCondition} characters`, longestCondition);
  }
  const scanner = new Scanner(text);
  if (scanner.isAtEnd()) throw scanner.error('Condition empty');
  const negationColumn = scanner.column();
  // Has no meaning, but was once allowed.
  scanner.take('+');
  const isNegated = scanner.take('-') || scanner.take('¬');
  const countColumn = scanner.column();
  const isCounted = scanner.take('#');
  if (scanner.isAtEnd()) throw scanner.error('Incomplete condition');
  const column = scanner.column();
  const subject = parseAttribute(scanner);
  if (isNegated && !allows(subject, '-')) throw invalidModifier('-', subject, negationColumn);
  if (isCounted && !allows(subject, '#')) throw invalidModifier('#', subject, countColumn);
  if (!isCounted && subject.type === 'count') {
    throw new ConditionError(
      `\`#\` modifier is required for attribute: \`${subject.name}\`. Write \`#${subject.name}\``,
      column,
    );
  }
  const { attribute, commit } = subject;
  return {
    kind: 'leaf',
    text,
    attribute,
    commit,
    isNegated,
    isCounted,
    test: readTest(scanner, subject, isCounted),
  };
}

/** A field of one commit can be negated, but has no count or length. */
const allows = ({ attribute, commit }: Subject, modifier: '-' | '#'): boolean =>
  commit
    ? modifier === '-' && commit.field !== 'date_author' && commit.field !== 'date_committer'
    : attributeOf(attribute).modifiers.includes(modifier);

const invalidModifier = (modifier: string, { name }: Subject, column: number) =>
  new ConditionError(`\`${modifier}\` modifier is invalid for attribute: \`${name}\``, column);

function readTest(scanner: Scanner, subject: Subject, isCounted: boolean): Leaf['test'] {
  if (subject.type === 'boolean') {
    if (scanner.isAtEnd()) return { type: 'is-true' };
    const { name } = subject;
    throw scanner.error(
      `Operators are invalid for Boolean attribute: \`${name}\`. Write \`${name}\` or \`-${name}\``,
    );
  }
  const allowed = isCounted ? counting : subject.operators;
  const operator = readOperator(scanner, `${isCounted ? '#' : ''}${subject.name}`, allowed);
  return parseTest(
    { ...subject, type: isCounted ? 'count' : subject.type },
    operator,
    scanner.rest(),
    scanner.column(),
  );
}

const counting = ['=', '!=', '>=', '<=', '>', '<'] as const;

function readOperator(scanner: Scanner, name: string, allowed: readonly Operator[]): Operator {
  const list = allowed.map((operator) => `\`${operator}\``).join(', ');
  if (scanner.isAtEnd())
    throw scanner.error(`Incomplete condition: \`${name}\` needs one of ${list} and a value`);
  const column = scanner.column();
  const spelling = spellings.find(([written]) => scanner.take(written));
  if (!spelling || !allowed.includes(spelling[1])) {
    throw new ConditionError(`Invalid operator. \`${name}\` takes ${list}`, column);
  }
  return spelling[1];
}
