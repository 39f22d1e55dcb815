import { aliases, refusedNames } from './attributes/refused-names.ts';
import type { AttributeType, ValueRule } from './attributes/attribute.ts';
import { allOperators } from './attributes/attribute.ts';
import { type AttributeName, attributeNames, attributeOf } from './attributes.ts';
import type { Leaf, Operator } from './ast.ts';
import { type CommitField, commitFields } from './commit-fields.ts';
import { ConditionError } from './condition-error.ts';
import type { Scanner } from './scanner.ts';
import { suggestNames } from './suggest-names.ts';

/** The attribute of a condition, and the tests that it allows. */
export type Subject = {
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

/** Reads the attribute. @throws ConditionError if it is unknown, with similar names. */
export function parseAttribute(scanner: Scanner): Subject {
  const start = scanner.column();
  const name = namesByLength.find((candidate) => scanner.take(candidate));
  const word = scanner.word();
  // `labels=x` is a typo of `label`, not `label` with the operator `s=`.
  if (name === undefined || word !== '') throw unknownName(`${name ?? ''}${word}`, start);
  const attribute = knownName(name, start);
  const { type, operators, rule } = attributeOf(attribute);
  if (type === 'commits' && scanner.take('[')) return parseCommit(scanner, start);
  scanner.skipSpace();
  return { name: attribute, attribute, commit: null, type, operators, rule };
}

const unknownName = (word: string, column: number): ConditionError =>
  new ConditionError(
    !/[a-z]/i.test(word)
      ? 'Invalid attribute. A name such as `base` or `label` is expected here'
      : `Invalid attribute. ${suggestNames(word, attributeNames)}`,
    column,
  );

function knownName(name: string, column: number): AttributeName {
  const why = refusedNames[name];
  if (why) throw new ConditionError(`The attribute \`${name}\` cannot be used in a freeze: ${why}`, column);
  return (aliases[name] ?? name) as AttributeName;
}

const commitField = /\s*(\*|-?\d{1,4})\s*\]\.([\w]+)/y;

function parseCommit(scanner: Scanner, start: number): Subject {
  const column = scanner.column();
  const found = scanner.takeMatch(commitField);
  if (!found) {
    throw new ConditionError(
      'Invalid attribute. Write `commits[0].author`, `commits[-1].author` or `commits[*].author`',
      column,
    );
  }
  const [, index, field] = found as unknown as [string, string, string];
  if (!Object.hasOwn(commitFields, field)) {
    const known = Object.keys(commitFields).map((each) => `\`${each}\``);
    throw new ConditionError(`Invalid attribute. A commit has ${known.join(', ')}`, start);
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

const operatorsOf = { text: allOperators, boolean: [], timestamp: ['>=', '<=', '>', '<'] } as const;
