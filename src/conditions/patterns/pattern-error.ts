/** The problem with a pattern, and its position (from 0). */
export class PatternError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'PatternError';
    this.offset = offset;
  }
}
