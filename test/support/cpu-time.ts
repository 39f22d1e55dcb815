// Limits of processor time are meant for an ordinary machine. On one that is slow, or shared, this time grows too.

/** Milliseconds of the work that is measured for comparison. What takes no longer is quick on every machine. */
const compared = 5;

/** Does work that takes so many milliseconds on an ordinary machine that has nothing else to do. */
export function ordinaryWork(milliseconds: number): void {
  const rows = Array.from({ length: 400 }, (_, id) => ({
    id,
    name: `pull request ${id}`,
    labels: ['a', 'b'],
  }));
  for (let times = 0; times < 3 * milliseconds; times += 1) JSON.parse(JSON.stringify(rows));
}

/** Milliseconds of processor time of this thread. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What a processor time of this thread is on an ordinary machine: no more, and less while this machine is slow. */
export function onOrdinaryMachine(milliseconds: number): number {
  if (milliseconds <= compared) return milliseconds;
  const before = threadTime();
  ordinaryWork(compared);
  return milliseconds / Math.max(1, (threadTime() - before) / compared);
}

/** What a piece of work costs at least: the processor time of the quickest of several tries, in ordinary milliseconds. */
export function leastCpuTime(work: () => unknown, tries = 5): number {
  const times = Array.from({ length: tries }, () => {
    const before = threadTime();
    work();
    return threadTime() - before;
  });
  return onOrdinaryMachine(Math.min(...times));
}
