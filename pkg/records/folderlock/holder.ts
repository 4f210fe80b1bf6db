import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import * as z from 'zod'

/** Where process ids are comparable: one boot of one machine, and one container of it. */
export interface Machine {
  readonly host: string
  readonly boot: string
  readonly processes: string
}

/**
 * Of a process, when it was started, in ticks of its machine: a number that is used again belongs to another one. Empty
 * where it cannot be read.
 */
async function startOf(pid: number | 'self'): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

const Holder = z.object({
  program: z.string(),
  pid: z.int().positive(),
  host: z.string(),
  boot: z.string(),
  processes: z.string(),
  start: z.string(),
  startedAt: z.string(),
  /** Part of a file's name when others take the lock over. */
  token: z.string().regex(/^[\w-]{1,64}$/),
})
export type Holder = Readonly<z.infer<typeof Holder>>

/** This process, as others will have to recognise it. */
export async function thisProcess(): Promise<Machine & Pick<Holder, 'pid' | 'start'>> {
  // Where there is no /proc, as on macOS, the name has to do.
  const [boot, processes, start] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    readlink('/proc/self/ns/pid').catch(() => ''),
    startOf('self'),
  ])
  return { host: hostname(), boot: boot.trim(), processes, pid: process.pid, start }
}

/** The text of a lock, and who has it; undefined where a power cut left the file empty, or it is being written. */
export interface Found {
  readonly text: string
  readonly holder: Holder | undefined
}

/**
 * The lock as it is in the folder.
 *
 * @returns undefined where there is none
 * @throws the error of the file system
 */
export async function found(path: string): Promise<Found | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return { text, holder: Holder.parse(JSON.parse(text)) }
  } catch {
    return { text, holder: undefined }
  }
}

/** @throws the error of the file system */
export async function holderIn(path: string): Promise<Holder | undefined> {
  return (await found(path))?.holder
}

/** Whether a holder has ended; undefined where that cannot be known from here. */
export async function isDead(holder: Holder, machine: Machine): Promise<boolean | undefined> {
  const { host, boot, processes, pid, start } = holder
  if (host !== machine.host || processes !== machine.processes) return undefined
  // An earlier boot of this machine, or another machine of the same name.
  if (boot !== machine.boot) return undefined
  // Before the look whether it exists: one that ends in between is dead, and not unknown.
  const now = await startOf(pid)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
  }
  // Other users' processes may be hidden in /proc.
  return start === '' || now === '' ? undefined : now !== start
}
