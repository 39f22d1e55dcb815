import type { ConditionNode } from './ast.ts';
import { ConditionError, parseLeaf } from './parse-leaf.ts';

/** Where a bad condition stands, and at which character of it (null where it is not text). */
export type ConditionProblem = { path: (string | number)[]; message: string; column: number | null };

export type ParseResult =
  { ok: true; conditions: ConditionNode[] } | { ok: false; problems: ConditionProblem[] };

/** As the reference configuration schema has it. */
export const mostItems = 500;
/** Nobody reads deeper; and what recurses over conditions needs an end. */
export const deepest = 10;

/**
 * Reads a list of conditions, all of which must hold.
 * @param path where the list stands, the beginning of every path in the problems.
 * @returns every bad condition, not only the first.
 */
export function parseConditions(input: unknown, path: (string | number)[]): ParseResult {
  const problems: ConditionProblem[] = [];
  const conditions = readList(input, path, 0, problems);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, conditions };
}

type Path = (string | number)[];

function readList(input: unknown, path: Path, depth: number, problems: ConditionProblem[]): ConditionNode[] {
  const refuse = (message: string) => {
    problems.push({ path, message, column: null });
    return [];
  };
  if (!Array.isArray(input)) return refuse('Send a list of conditions.');
  if (input.length > mostItems) return refuse(`Send at most ${mostItems} conditions in one list.`);
  return input.flatMap((item, index) => readNode(item, [...path, index], depth, problems) ?? []);
}

function readNode(
  input: unknown,
  path: Path,
  depth: number,
  problems: ConditionProblem[],
): ConditionNode | null {
  const refuse = (message: string, column: number | null = null) => {
    problems.push({ path, message, column });
    return null;
  };
  if (typeof input === 'string') {
    try {
      return parseLeaf(input);
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error;
      return refuse(`Invalid condition '${shorten(input)}'. ${error.message}.`, error.column);
    }
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return refuse('A condition is a string, or an object with one of the keys `and`, `or`, `not`.');
  }
  const keys = Object.keys(input);
  const [key] = keys;
  if (keys.length !== 1 || (key !== 'and' && key !== 'or' && key !== 'not')) {
    return refuse('A group of conditions has exactly one of the keys `and`, `or`, `not`.');
  }
  if (depth >= deepest) return refuse(`Conditions can be nested at most ${deepest} levels deep.`);
  const inner = (input as Record<string, unknown>)[key];
  const innerPath = [...path, key];
  if (key === 'not') {
    const node = readNode(inner, innerPath, depth + 1, problems);
    return node && { kind: 'not', node };
  }
  if (Array.isArray(inner) && inner.length === 0) return refuse(`\`${key}\` needs at least one condition.`);
  return { kind: key, nodes: readList(inner, innerPath, depth + 1, problems) };
}

const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
