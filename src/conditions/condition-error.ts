/** What is wrong with a condition, and at which character (from 1). */
export class ConditionError extends Error {
  readonly column: number;
  constructor(message: string, column: number) {
    super(message);
    this.name = 'ConditionError';
    this.column = column;
  }
}
