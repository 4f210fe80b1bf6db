import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'

/** A file of an archive. */
export interface Entry {
  /** Relative, with forward slashes. */
  readonly path: string
  readonly content: Buffer
  readonly executable?: boolean
}

/** Every file below a folder, sorted by path. */
export function entriesIn(folder: string): Entry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name))
    .map((path) => ({
      path: path.slice(folder.length + 1).replaceAll('\\', '/'),
      content: readFileSync(path),
    }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

const modeOf = (entry: Entry): number => (entry.executable === true ? 0o755 : 0o644)

/** A zip archive; the same entries give the same bytes. */
export async function zipOf(entries: readonly Entry[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const entry of entries) {
    zip.addBuffer(entry.content, entry.path, {
      mtime: new Date(1980, 0, 1),
      forceDosTimestamp: true,
      mode: 0o100000 | modeOf(entry),
    })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** A tar.gz archive; the same entries give the same bytes. */
export async function tarGzOf(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack()
  for (const entry of entries) {
    tar.entry({ name: entry.path, mtime: new Date(0), mode: modeOf(entry) }, entry.content)
  }
  tar.finalize()
  return buffer(tar.pipe(createGzip({ level: 9 })))
}
