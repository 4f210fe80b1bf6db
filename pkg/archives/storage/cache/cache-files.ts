import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The files of the cache: `archives/ab/abcd…` by digest, and `partial/…` while they are written. */
export class CacheFiles {
  readonly archivesDir: string
  readonly #partialDir: string

  constructor(dir: string) {
    this.archivesDir = join(dir, 'archives')
    this.#partialDir = join(dir, 'partial')
  }

  /** Name of an archive below `archivesDir`. */
  objectOf(sha256: string): string {
    return `${sha256.slice(0, 2)}/${sha256}`
  }

  /**
   * Deletes partial files of previous processes.
   *
   * @returns the cached archives, the least recently used first
   */
  async open(): Promise<{ sha256: string; sizeBytes: number }[]> {
    await rm(this.#partialDir, { recursive: true, force: true })
    await mkdir(this.#partialDir, { recursive: true, mode: 0o700 })
    await mkdir(this.archivesDir, { recursive: true, mode: 0o700 })
    const found: { sha256: string; sizeBytes: number; usedMs: number }[] = []
    for (const entry of await readdir(this.archivesDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/^[0-9a-f]{64}$/.test(entry.name)) continue
      const { size, atimeMs, mtimeMs } = await stat(join(entry.parentPath, entry.name))
      found.push({ sha256: entry.name, sizeBytes: size, usedMs: Math.max(atimeMs, mtimeMs) })
    }
    return found.toSorted((a, b) => a.usedMs - b.usedMs)
  }

  async create(): Promise<{ path: string; file: FileHandle }> {
    const path = join(this.#partialDir, randomUUID())
    return { path, file: await open(path, 'wx+', 0o600) }
  }

  /** Moves a complete file to its final path, atomically. */
  async keep(path: string, sha256: string): Promise<void> {
    const target = join(this.archivesDir, this.objectOf(sha256))
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await rename(path, target)
  }

  async drop(path: string): Promise<void> {
    await unlink(path).catch(() => {})
  }

  async remove(sha256: string): Promise<void> {
    await this.drop(join(this.archivesDir, this.objectOf(sha256)))
  }
}
