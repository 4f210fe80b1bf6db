import type { FileHandle } from 'node:fs/promises'

/** Closes a file, once what it is reading has ended; nobody waits for that, because it may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}
