/** A test that only needs the clock. Times are milliseconds since the epoch. */
export type ClockTest = {
  holds(now: number): boolean;
  /** The first instant after `now` when `holds` gives another answer; null: never. */
  nextChange(now: number): number | null;
};

/** Computes once for thousands of pull requests at one instant. */
export const remembering = (test: ClockTest): ClockTest => ({
  holds: rememberLast((now) => test.holds(now)),
  nextChange: rememberLast((now) => test.nextChange(now)),
});

function rememberLast<Answer>(ask: (now: number) => Answer): (now: number) => Answer {
  let last: { now: number; answer: Answer } | undefined;
  return (now) => {
    if (last?.now !== now) last = { now, answer: ask(now) };
    return last.answer;
  };
}
