/** The problem with a condition, and the character where it is (from 1). */
export class ConditionError extends Error {
  readonly column: number;
  constructor(message: string, column: number) {
    super(message);
    this.name = 'ConditionError';
    this.column = column;
  }
}
