/**
 * Processor time of this thread so far, in milliseconds. Unlike the time on a clock it does not grow while a busy machine
 * runs other processes.
 */
export function cpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
