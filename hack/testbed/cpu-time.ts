/**
 * Processor time of this thread so far, in milliseconds. Unlike the time on a clock it does not grow while a busy machine
 * runs other processes.
 */
export function cpuTimeMs(): number {
  // Linux counts what a thread has used when it is taken off its processor, or every few milliseconds; asked for the whole
  // process it counts at once.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
