import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time that a process has used so far, in nanoseconds, over all its threads: what it costs to answer includes the
 * threads that collect garbage and write files. Unlike wall-clock time it hardly depends on what else a machine does.
 *
 * @see https://docs.kernel.org/scheduler/sched-stats.html
 */
export function cpuNanoseconds(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).reduce(
    (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
    0,
  )
}

/** CPU time of the main thread of a process, in nanoseconds: its JavaScript, without garbage collection of other threads. */
export const mainThreadNanoseconds = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])

/** Memory of a process in MB of 10^6 bytes, now and at its highest. */
export function residentMb(pid: number): { readonly now: number; readonly highest: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string): number =>
    (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
  return { now: megabytes('VmRSS'), highest: megabytes('VmHWM') }
}

/** CPU time of a process in user mode and in the kernel, in nanoseconds; counted in ticks of ten milliseconds. */
export function cpuModes(pid: number): { readonly user: number; readonly system: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return { user: Number(fields[11]) * 1e7, system: Number(fields[12]) * 1e7 }
}
