import type { Comparison } from './ast.ts';

/** Compares two numbers. */
export const comparesNumbers: Record<Comparison, (one: number, other: number) => boolean> = {
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
  '>=': (one, other) => one >= other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '<': (one, other) => one < other,
};

/** Compares texts by code points: negative, 0 or positive. JavaScript's `<` compares UTF-16 units. */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let i = 0; i < length; i++) {
    if (one.charCodeAt(i) !== other.charCodeAt(i)) return codePointAt(one, i) - codePointAt(other, i);
  }
  return one.length - other.length;
}

/** The code point that this unit is part of. */
function codePointAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff && at > 0;
  const whole = isSecondHalf ? text.codePointAt(at - 1)! : unit;
  return whole > 0xffff ? whole : text.codePointAt(at)!;
}

/** The number of characters as readers count them, not of UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}
