/** How to retry a failed call. */
export type Retries = {
  /** How often to try a call: if the service fails or asks to wait, and if nothing answers. */
  answered: number;
  unanswered: number;
  /** Whether a retry may change this status. The caller handles 429, and 409 after a POST. */
  isPassing(status: number): boolean;
  /** Milliseconds until the next try, if the service does not say how long to wait. @param tries so far. */
  pause(tries: number, isAnswered: boolean): number;
};

/** A person waits, so failures show soon. */
export const forPeople: Retries = {
  answered: 5,
  unanswered: 3,
  isPassing: (status) => status >= 502 && status <= 504,
  pause: (tries, isAnswered) => (isAnswered ? 1000 : 250 * 2 ** tries),
};

/** A CI job can wait for a restart. Jobs that failed together do not try again together. */
export const forJobs: Retries = {
  answered: 8,
  unanswered: 8,
  isPassing: (status) => status >= 500,
  pause: (tries) => Math.min(30_000, 500 * 2 ** tries) * (0.5 + Math.random() / 2),
};
