export const exitCodes = {
  done: 0,
  /** The service refused, or GitHub does not enforce it. */
  refused: 1,
  /** Somebody used the command wrongly, or the outcome is not known. */
  notKnown: 2,
  /** A gate is closed: a freeze is ongoing. */
  frozen: 3,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command: the message says what to do next. */
export class CommandStop extends Error {
  readonly exitCode: ExitCode;
  /** The status of the service's answer, if there was one. */
  readonly status: number | undefined;
  /** What was done before, for readers of JSON. */
  done: object = {};
  constructor(exitCode: ExitCode, message: string, status?: number) {
    super(message);
    this.exitCode = exitCode;
    this.status = status;
  }
}

/** The command line or its settings are wrong. */
export const misused = (message: string): CommandStop => new CommandStop(exitCodes.notKnown, message);

/** It is not done. */
export const refusedBy = (message: string, status?: number): CommandStop =>
  new CommandStop(exitCodes.refused, message, status);

/** Nobody can say whether it is done. */
export const unknownThing = (message: string, status?: number): CommandStop =>
  new CommandStop(exitCodes.notKnown, message, status);

/** Whether another try may succeed: the service did not answer, or asked to wait. */
export const isPassing = (error: unknown): error is CommandStop =>
  error instanceof CommandStop && error.exitCode === exitCodes.notKnown;
