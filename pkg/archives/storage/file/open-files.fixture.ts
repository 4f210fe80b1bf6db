import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** Lists descriptors that this process has open in a directory and below. */
export function openFiles(directory: string): number {
  if (!existsSync('/proc/self/fd')) return 0
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return `${readlinkSync(`/proc/self/fd/${fd}`)}/`.startsWith(`${directory}/`)
    } catch {
      return false
    }
  }).length
}
