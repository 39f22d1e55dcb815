import type { RE2JS } from 're2js';
import type { Leaf, Operator, Test } from './ast.ts';
import { attributeNames, attributeOf, laterNames, type AttributeName } from './attributes.ts';
import { compilePattern } from './compile-pattern.ts';

/** What is wrong with a condition, and at which character (from 1). */
export class ConditionError extends Error {
  readonly column: number;
  constructor(message: string, column: number) {
    super(message);
    this.name = 'ConditionError';
    this.column = column;
  }
}

/** Every operator of the grammar, longest first, with the one that it stands for. */
const spellings: readonly (readonly [string, Operator | null])[] = [
  ['==', '='],
  ['!=', '!='],
  ['~=', '~='],
  ['*=', null],
  ['>=', null],
  ['<=', null],
  ['≠', '!='],
  ['≥', null],
  ['≤', null],
  ['=', '='],
  [':', '='],
  ['>', null],
  ['<', null],
];

/** The longest first: where one name begins with another, the longer one is meant. */
const namesByLength = [...attributeNames, ...laterNames].sort((one, other) => other.length - one.length);

/**
 * Reads one condition: `[-][#]attribute[operator value]`, with spaces where they do no harm.
 * @throws ConditionError
 */
export function parseLeaf(text: string): Leaf {
  const scanner = new Scanner(text);
  if (scanner.isAtEnd()) throw scanner.error('Condition empty');
  const isNegated = scanner.take('-') || scanner.take('¬');
  const countColumn = scanner.column();
  const isCounted = scanner.take('#');
  if (scanner.isAtEnd()) throw scanner.error('Incomplete condition');
  const attribute = readAttribute(scanner);
  if (isCounted) {
    const isValid = attributeOf(attribute).modifiers.includes('#');
    const message = isValid
      ? 'The `#` modifier is not supported yet'
      : `\`#\` modifier is invalid for attribute: \`${attribute}\``;
    throw new ConditionError(message, countColumn);
  }
  return { kind: 'leaf', text, attribute, isNegated, test: readTest(scanner, attribute) };
}

function readAttribute(scanner: Scanner): AttributeName {
  const start = scanner.column();
  const name = namesByLength.find((candidate) => scanner.take(candidate));
  if (!name) throw scanner.error(`Invalid attribute. ${suggestion(scanner.word())}`);
  // `labels=x` is a slip of the pen for `label`, not `label` with the operator `s=`.
  if (/^[\w-]/.test(scanner.rest())) {
    throw new ConditionError(`Invalid attribute. ${suggestion(name + scanner.word())}`, start);
  }
  if (!isKnown(name)) {
    throw new ConditionError(`The attribute \`${name}\` is not supported yet. ${knownNames}`, start);
  }
  scanner.skipSpace();
  return name;
}

const isKnown = (name: string): name is AttributeName => attributeNames.some((known) => known === name);

const knownNames = `Known are ${attributeNames.map((name) => `\`${name}\``).join(', ')}`;

function suggestion(word: string): string {
  const near = attributeNames.filter((name) => word !== '' && distance(word.toLowerCase(), name) <= 2);
  return near.length > 0 ? `Did you mean ${near.map((name) => `\`${name}\``).join(' or ')}?` : knownNames;
}

function readTest(scanner: Scanner, name: AttributeName): Test {
  const { type, operators, check } = attributeOf(name);
  if (type === 'boolean') {
    if (scanner.isAtEnd()) return { operator: 'is-true' };
    throw scanner.error(`Operators are invalid for Boolean attribute: \`${name}\``);
  }
  const operator = readOperator(scanner, name, operators);
  scanner.skipSpace();
  const column = scanner.column();
  const value = unquote(scanner.rest().trimEnd(), column);
  // Read as plain text, it would never match.
  if (/\{\{\s*author\s*\}\}/.test(value)) {
    throw new ConditionError('The template `{{ author }}` is not supported yet', column);
  }
  const wrong = check?.(value, operator);
  if (wrong) throw new ConditionError(wrong, column);
  return operator === '~=' ? { operator, pattern: compile(value, column) } : { operator, value };
}

function readOperator(
  scanner: Scanner,
  name: AttributeName,
  allowed: readonly Operator[],
): '=' | '!=' | '~=' {
  const list = allowed.map((operator) => `\`${operator}\``).join(', ');
  if (scanner.isAtEnd())
    throw scanner.error(`Incomplete condition: \`${name}\` needs one of ${list} and a value`);
  const column = scanner.column();
  const spelling = spellings.find(([written]) => scanner.take(written));
  if (!spelling) throw scanner.error(`Invalid operator. \`${name}\` takes ${list}`);
  const [written, operator] = spelling;
  if (operator === null || !allowed.includes(operator)) {
    throw new ConditionError(
      `The operator \`${written}\` is not supported for \`${name}\`, which takes ${list}`,
      column,
    );
  }
  return operator;
}

/** One pair of quotes around the whole value is taken off; a lone one is a mistake. */
function unquote(value: string, column: number): string {
  const first = value[0];
  const last = value.at(-1);
  const opens = first === '"' || first === "'";
  const closes = last === '"' || last === "'";
  if (opens && value.length > 1 && last === first) return value.slice(1, -1);
  if (opens || closes) throw new ConditionError('Unbalanced quotes', column);
  return value;
}

/** Compiled here, so that a bad pattern is refused when it is sent. */
function compile(pattern: string, column: number): RE2JS {
  try {
    return compilePattern(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConditionError(`Invalid regular expression: ${reason}`, column);
  }
}

/** Levenshtein's distance, for names: both short. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return Infinity;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.skipSpace();
  }

  skipSpace(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at]!)) this.#at += 1;
  }

  /** Steps over a token, and over the space behind it unless it is a word. */
  take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    if (!/\w/.test(token)) this.skipSpace();
    return true;
  }

  isAtEnd = (): boolean => this.#at >= this.#text.length;
  rest = (): string => this.#text.slice(this.#at);
  /** Inside the text also where the text ends too early. */
  column = (): number => Math.max(1, Math.min(this.#at + 1, this.#text.length));
  word = (): string => /^[\w-]{0,40}/.exec(this.rest())![0];

  error(message: string): ConditionError {
    return new ConditionError(message, this.column());
  }
}
