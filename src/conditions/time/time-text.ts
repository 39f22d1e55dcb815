import { isTimeZone } from '../../time/local-time.ts';
import type { Parsed } from './parsed.ts';

/** Thrown while a text is read, and turned into `Parsed` by `parsed`: it never leaves this folder. */
class Misread extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Reads a text from left to right, each character a bounded number of times. */
export class TimeText {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.skipSpace();
  }

  /** Steps over what a sticky expression finds here. */
  take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const match = expression.exec(this.text);
    if (match) this.at += match[0].length;
    return match;
  }

  takeCharacter(character: string): boolean {
    if (!this.text.startsWith(character, this.at)) return false;
    this.at += character.length;
    return true;
  }

  skipSpace(): void {
    this.take(/\s*/y);
  }

  isAtEnd = (): boolean => this.at >= this.text.length;

  fail(message: string, at = this.at): never {
    throw new Misread(message, at);
  }
}

/** Reads a whole text; never throws what `TimeText.fail` throws. */
export function parsed<Value>(text: string, read: (from: TimeText) => Value): Parsed<Value> {
  try {
    return { ok: true, value: read(new TimeText(text)) };
  } catch (error) {
    if (!(error instanceof Misread)) throw error;
    // What is missing at the end is shown at the last character.
    const at = Math.max(0, Math.min(error.at, text.length - 1));
    return { ok: false, message: error.message, at };
  }
}

/** Steps over `[Europe/Paris]`, with space in front and behind. Null: there is no bracket here. */
export function takeZone(from: TimeText): string | null {
  from.skipSpace();
  const opens = from.at;
  if (!from.takeCharacter('[')) return null;
  const name = from.take(/([^[\]]*)\]/y)?.[1];
  if (name === undefined)
    return from.fail('Invalid timezone. Close the bracket, as in [Europe/Paris]', opens);
  if (!isTimeZone(name)) {
    from.fail('Invalid timezone. Send an IANA name, such as [Europe/Paris] or [UTC]', opens + 1);
  }
  from.skipSpace();
  return name;
}

/** Names of zones are compared without case; two names of one zone count as two zones. */
export const isSameZone = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
