import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'
import { type ModuleArchive, type NormaliseOptions, normaliseModule } from './module-archive.ts'

/** An entry to pack: a file, or a link if it has a target. */
export interface Packed {
  readonly path: string
  readonly content?: string | Buffer
  readonly mode?: number
  readonly target?: string
}

/** Creates a folder for the archives of a test. */
export function archiveFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'depot-archive-'))
  let count = 0
  const next = (): string => join(folder, String(++count))
  return {
    folder,
    file: (bytes: Uint8Array): string => {
      const path = next()
      writeFileSync(path, bytes)
      return path
    },
    normalise: async (
      bytes: Uint8Array,
      options: Partial<NormaliseOptions> = {},
    ): Promise<ModuleArchive> => {
      const file = next()
      writeFileSync(file, bytes)
      return normaliseModule({ file, into: next(), format: 'zip', ...options })
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

/** The same entries always give the same bytes, because digests must not depend on the clock. */
const mtime = new Date(1980, 0, 1)

/** A zip as common tools write it. */
export async function zipOf(entries: readonly Packed[], comment?: string): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { path, content = '', mode = 0o644, target } of entries) {
    if (path.endsWith('/')) zip.addEmptyDirectory(path, { mtime })
    else {
      zip.addBuffer(Buffer.from(target ?? content), path, {
        mode: target === undefined ? 0o100000 | mode : 0o120777,
        mtime,
      })
    }
  }
  zip.end({ comment: comment ?? '', forceZip64Format: false })
  return buffer(zip.outputStream)
}

/** A tar as common tools write it. */
export async function tarOf(entries: readonly Packed[]): Promise<Buffer> {
  const tar = pack()
  for (const { path, content = '', mode = 0o644, target } of entries) {
    if (path.endsWith('/')) tar.entry({ name: path, type: 'directory', mtime })
    else if (target === undefined) tar.entry({ name: path, mode, mtime }, content)
    else tar.entry({ name: path, type: 'symlink', linkname: target, mtime })
  }
  tar.finalize()
  return Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Buffer>))
}

export const tarGzOf = async (entries: readonly Packed[]): Promise<Buffer> =>
  gzipSync(await tarOf(entries))
