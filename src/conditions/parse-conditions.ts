// `conditions/` is the language of conditions: reading them, what they need to know, judging them, and saying why. It
// is pure.
import { cutText } from '../cut-text.ts';
import { inSlices } from '../time/slices.ts';
import type { ConditionNode } from './ast.ts';
import { readLeafOnce } from './parse-leaf.ts';
import { ParseError } from './scanner.ts';

/** The path of a bad condition, and the character of the problem (from 1; null if it is not text). */
type ConditionProblem = { path: ProblemPath; message: string; column: number | null };

type ParseResult = { ok: true; conditions: ConditionNode[] } | { ok: false; problems: ConditionProblem[] };

/** From the reference configuration schema. */
export const mostItems = 500;
/** The maximum depth, because some code recurses over conditions. */
export const deepest = 32;
/** The maximum for one list with all its groups. Parsing 500 groups of 500 would take minutes. */
export const mostConditions = 2000;

/** The maximum characters for one list with all its groups. Each 1000 take up to 10 ms to compile. */
export const longestPatterns = 50_000;

type ProblemPath = (string | number)[];
type ConditionReading = {
  problems: ConditionProblem[];
  conditions: number;
  patterns: number;
  isCut: boolean;
};

/**
 * Reads a list of conditions that must all match.
 * @param path of the list, which starts every path in the problems.
 * @returns every bad condition, not only the first.
 */
export function parseConditions(input: unknown, path: ProblemPath): ParseResult {
  const reading: ConditionReading = { problems: [], conditions: 0, patterns: 0, isCut: false };
  const conditions = readList(input, path, 0, reading);
  if (reading.isCut) refuse(reading, path, `Send at most ${mostConditions} conditions in all.`);
  const { problems } = reading;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, conditions };
}

function readList(
  input: unknown,
  path: ProblemPath,
  depth: number,
  reading: ConditionReading,
): ConditionNode[] {
  if (!Array.isArray(input)) return refuse(reading, path, 'Send a list of conditions.') ?? [];
  if (input.length > mostItems) {
    return refuse(reading, path, `Send at most ${mostItems} conditions in one list.`) ?? [];
  }
  return input.flatMap((item, index) => readNode(item, [...path, index], depth, reading) ?? []);
}

function readNode(
  input: unknown,
  path: ProblemPath,
  depth: number,
  reading: ConditionReading,
): ConditionNode | null {
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

function readLeaf(text: string, path: ProblemPath, reading: ConditionReading): ConditionNode | null {
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
    const message = `Invalid condition '${cutText(text, 101)}'. ${error.message}${stop}`;
    return refuse(reading, path, message, Math.max(1, Math.min(error.offset + 1, text.length)));
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

/** Notes a problem. It counts as a condition, so that the number of bad conditions is limited too. */
function refuse(
  reading: ConditionReading,
  path: ProblemPath,
  message: string,
  column: number | null = null,
): null {
  reading.conditions += 1;
  reading.problems.push({ path, message, column });
  return null;
}
