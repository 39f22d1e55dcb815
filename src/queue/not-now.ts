/**
 * What a task throws where it cannot do its work now: the worker has the same job come back. Not a failure: nothing
 * is logged, and no attempt is counted.
 */
export class NotNow extends Error {
  /** When to come back; null: never, something else will ask again. */
  readonly until: Date | null;

  constructor(until: Date | null) {
    super(until ? `not before ${until.toISOString()}` : 'not until something else asks');
    this.until = until;
  }
}
