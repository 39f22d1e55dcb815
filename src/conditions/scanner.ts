/** The problem with a text that somebody wrote, and its place: an offset from 0. */
export class ParseError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'ParseError';
    this.offset = offset;
  }
}

/** Reads a text from left to right, each character a bounded number of times. */
export class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
    this.skipSpace();
  }

  skipSpace(): void {
    this.match(/\s*/y);
  }

  /** Skips a token, and the space after it unless the token is a word. */
  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    if (!/\w/.test(token)) this.skipSpace();
    return true;
  }

  /** Skips what a sticky expression matches here. */
  match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const match = expression.exec(this.text);
    if (match) this.at += match[0].length;
    return match;
  }

  isAtEnd = (): boolean => this.at >= this.text.length;

  /** Refuses the text. The place is inside it, even if it ends too early. */
  fail(message: string, at = this.at): never {
    throw new ParseError(message, Math.max(0, Math.min(at, this.text.length - 1)));
  }
}
