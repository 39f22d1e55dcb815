/** How a call that fails is tried again. */
export type Retries = {
  /** Tries of one call: where the service fails or asks to wait, and where nobody answers. */
  answered: number;
  unanswered: number;
  /** Whether a status other than 429, or 409 after a POST, may be otherwise when it is asked again. */
  isPassing(status: number): boolean;
  /** Milliseconds until the next try, where the service does not say how long to wait. @param tries so far. */
  pause(tries: number, isAnswered: boolean): number;
};

/** Somebody waits: what is down is said soon. */
export const forPeople: Retries = {
  ...{ answered: 5, unanswered: 3 },
  isPassing: (status) => status >= 502 && status <= 504,
  pause: (tries, isAnswered) => (isAnswered ? 1000 : 250 * 2 ** tries),
};

/** A job of CI can outlast a restart. Jobs that failed together do not come back together. */
export const forJobs: Retries = {
  ...{ answered: 8, unanswered: 8 },
  isPassing: (status) => status >= 500,
  pause: (tries) => Math.min(30_000, 500 * 2 ** tries) * (0.5 + Math.random() / 2),
};
