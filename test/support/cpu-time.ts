/**
 * What a piece of work costs at least: the CPU time of the quickest of several tries, in milliseconds. Unlike the time
 * on the clock it is about the same on a machine that is busy with other things.
 */
export function leastCpuTime(work: () => unknown, tries = 5): number {
  const times = Array.from({ length: tries }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
