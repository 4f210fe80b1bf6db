/** Reads go.mod and go.sum of a version from its repository. */

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ArchiveError, packFiles, visitFiles } from '../../../archives/archive/archive.ts'
import { hasReason, messageOf, printable } from '../../../base/errors/errors.ts'
import type { ModuleUpstream, ResolvedVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { SourceFiles } from './work.ts'

const names = ['go.mod', 'go.sum'] as const

/** Large providers have a go.sum of some 300 KiB. */
const maxFileBytes = 4 * 1024 * 1024

/** @returns the files, packed, or why there are none */
export async function readFiles(
  context: Context,
  upstream: ModuleUpstream,
  resolved: ResolvedVersion,
  { repository, signal }: { readonly repository: string; readonly signal: AbortSignal },
): Promise<SourceFiles> {
  const { revision, ref } = resolved
  const contents = await read(context, upstream, resolved, signal).catch((error: unknown) => {
    // Another attempt would find the same.
    if (hasReason(error, 'ArchiveTooLarge') || error instanceof ArchiveError)
      return messageOf(error)
    throw error
  })
  if (typeof contents === 'string') return { revision, problem: printable(contents, 300) }
  const large = names.find((name) => contents.get(name) === 'large')
  if (large !== undefined) {
    const limit = `${maxFileBytes / 1024 / 1024} MiB`
    return { revision, problem: `${large} of ${repository} has more than ${limit} at ${ref}` }
  }
  const files = new Map<string, Buffer>()
  for (const [name, bytes] of contents) if (bytes !== 'large') files.set(name, bytes)
  return files.has('go.mod')
    ? { revision, ...(await packed(context, files, signal)) }
    : { revision, problem: `${repository} has no go.mod at ${ref}` }
}

type Contents = Map<string, Buffer | 'large'>

async function read(
  context: Context,
  upstream: ModuleUpstream,
  resolved: ResolvedVersion,
  signal: AbortSignal,
): Promise<Contents> {
  const contents: Contents = new Map()
  if (upstream.file === undefined) return readWhole(context, upstream, resolved, signal)
  for (const name of names) {
    const bytes = await upstream
      .file(resolved, name, { signal, maxBytes: maxFileBytes })
      .catch((error: unknown) => {
        if (error instanceof Error && hasReason(error.cause, 'TooLarge')) return 'large' as const
        throw error
      })
    if (bytes !== undefined) contents.set(name, bytes)
  }
  return contents
}

/** Reads the files from the archive of a whole repository. */
async function readWhole(
  { limits: { module: limits } }: Context,
  upstream: ModuleUpstream,
  resolved: ResolvedVersion,
  signal: AbortSignal,
): Promise<Contents> {
  const files = new Map<string, { readonly chunks: Buffer[]; bytes: number }>()
  const { file } = await upstream.fetch(resolved, { signal, limits })
  try {
    await visitFiles({ file: file.path, limits, signal }, (path) => {
      if (!names.some((name) => name === path)) return undefined
      const one = { chunks: new Array<Buffer>(), bytes: 0 }
      files.set(path, one)
      return (chunk) => {
        one.bytes += chunk.length
        if (one.bytes <= maxFileBytes) one.chunks.push(Buffer.from(chunk))
      }
    })
  } finally {
    await file.remove()
  }
  const contentOf = ([name, { chunks, bytes }]: [string, { chunks: Buffer[]; bytes: number }]) =>
    [name, bytes > maxFileBytes ? ('large' as const) : Buffer.concat(chunks)] as const
  return new Map([...files].map(contentOf))
}

async function packed({ spool }: Context, files: ReadonlyMap<string, Buffer>, signal: AbortSignal) {
  const reserved = await spool.reserve(0, { signal })
  try {
    await packFiles(files, reserved.path, signal)
    const bytes = await readFile(reserved.path)
    return { bytes, sha256: hash('sha256', bytes) }
  } finally {
    await reserved.remove()
  }
}
