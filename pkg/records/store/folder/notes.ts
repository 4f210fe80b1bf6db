import { mkdirSync, rmdirSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../../base/errors/errors.ts'
import type { Notes } from '../types.ts'
import { writeFile } from './write-file.ts'

/** Notes in files of a hidden folder, which is not read as manifests. */
export function folderNotes(dir: string): Notes {
  const folder = join(dir, '.depot-removals')
  const fileOf = (key: string) => join(folder, `${key}.json`)
  return {
    async all() {
      const names = await readdir(folder).catch(noneIfMissing)
      const keys = names
        .filter((name) => /^[^.].*\.json$/.test(name))
        .map((name) => name.slice(0, -'.json'.length))
      const notes = new Map<string, string>()
      for (const key of keys) notes.set(key, await readFile(fileOf(key), 'utf8'))
      return notes
    },
    async put(key, text) {
      mkdirSync(folder, { recursive: true })
      await writeFile(fileOf(key), text)
    },
    async drop(key) {
      await rm(fileOf(key), { force: true })
      try {
        rmdirSync(folder)
      } catch {
        // Other notes are in it.
      }
    },
  }
}

function noneIfMissing(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return []
  throw error
}
