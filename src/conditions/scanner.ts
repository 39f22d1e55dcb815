import { ConditionError } from './condition-error.ts';

/** Reads a condition from left to right. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.skipSpace();
  }

  skipSpace(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at]!)) this.#at += 1;
  }

  /** Skips a token, and the space after it unless the token is a word. */
  take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    if (!/\w/.test(token)) this.skipSpace();
    return true;
  }

  /** Skips what a sticky expression matches here. */
  takeMatch(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match;
  }

  isAtEnd = (): boolean => this.#at >= this.#text.length;
  /** The value: the rest of the text without trailing space. */
  rest = (): string => this.#text.slice(this.#at).trimEnd();
  /** The position of a problem, inside the text even if the text ends too early. */
  column = (): number => Math.max(1, Math.min(this.#at + 1, this.#text.length));
  /** The name at this position, for messages. */
  word = (): string => /^[\w-]{0,40}/.exec(this.#text.slice(this.#at, this.#at + 40))![0];

  error(message: string): ConditionError {
    return new ConditionError(message, this.column());
  }
}
