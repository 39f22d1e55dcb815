import type { ConditionInput } from './ast.ts';

// Conditions as a sentence, for people.

/** A part of a sentence: a condition as it was sent, or the words between conditions. */
export type Part = { condition: string } | { words: string };

/** All conditions as a sentence, in plain text: `label=risky and (base=main or not author=bob)`. */
export const inOneLine = (items: ConditionInput[]): string =>
  join(items, 'and')
    .map((part) => ('words' in part ? part.words : part.condition))
    .join('');

/** Conditions, joined by a word. */
export function join(items: ConditionInput[], word: 'and' | 'or'): Part[] {
  if (items.length === 0) return [{ words: word === 'and' ? 'everything' : 'nothing' }];
  return items.flatMap((item, index) => {
    const own = items.length > 1 && isSeveral(item) ? inParentheses(item) : partsOf(item);
    return index === 0 ? own : [{ words: ` ${word} ` }, ...own];
  });
}

function partsOf(item: ConditionInput): Part[] {
  if (typeof item === 'string') return [{ condition: item }];
  if ('and' in item) return join(item.and, 'and');
  if ('or' in item) return join(item.or, 'or');
  return [{ words: 'not ' }, ...(isSeveral(item.not) ? inParentheses(item.not) : partsOf(item.not))];
}

const inParentheses = (item: ConditionInput): Part[] => [{ words: '(' }, ...partsOf(item), { words: ')' }];

const isSeveral = (item: ConditionInput): boolean => {
  if (typeof item === 'string' || 'not' in item) return false;
  const items = 'and' in item ? item.and : item.or;
  return items.length > 1 || items.some(isSeveral);
};
