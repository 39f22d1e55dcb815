/** What the shell is told. */
export const exitCodes = {
  done: 0,
  /** The service refused, or GitHub does not enforce what was asked for. */
  refused: 1,
  /** The command was used wrongly, or its outcome is not known. */
  notKnown: 2,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command: the message says what to do next. */
export class Stop extends Error {
  readonly exitCode: ExitCode;
  /** The status that the service answered with, if it answered. */
  readonly status: number | undefined;
  /** What was done before, for who reads JSON. */
  done: object = {};
  constructor(exitCode: ExitCode, message: string, status?: number) {
    super(message);
    this.exitCode = exitCode;
    this.status = status;
  }
}

/** The command line or its settings are wrong. */
export const misused = (message: string): Stop => new Stop(exitCodes.notKnown, message);

/** What was asked for is not done. */
export const refused = (message: string, status?: number): Stop =>
  new Stop(exitCodes.refused, message, status);

/** Nobody can say whether it is done. */
export const notKnown = (message: string, status?: number): Stop =>
  new Stop(exitCodes.notKnown, message, status);

/** Whether it may be otherwise when it is asked again: the service did not answer, or asked to wait. */
export const isPassing = (error: unknown): error is Stop =>
  error instanceof Stop && error.exitCode === exitCodes.notKnown;
