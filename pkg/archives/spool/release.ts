import type { FileHandle } from 'node:fs/promises'

/** Closes a file, once what it is reading has ended; that is not waited for, because it may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}
