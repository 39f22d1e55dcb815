/**
 * A task throws this if it cannot do its work now. The worker sends the same job again. It is not a failure: the worker
 * logs nothing and counts no attempt.
 */
export class NotNow extends Error {
  /** When to try again; null: never, because something else asks again. */
  readonly until: Date | null;

  constructor(until: Date | null) {
    super(until ? `not before ${until.toISOString()}` : 'not until something else asks');
    this.until = until;
  }
}
