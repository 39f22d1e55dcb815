/** What is wrong with a pattern, and where in it (from 0). */
export class PatternError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'PatternError';
    this.offset = offset;
  }
}
