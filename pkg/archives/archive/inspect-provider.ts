import { createHash } from 'node:crypto'
import { open, stat } from 'node:fs/promises'
import semver from 'semver'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  type ArchiveReading,
  moduleLimits,
  providerLimits,
  quoted,
} from './entry.ts'
import { packageDigest } from './module-archive.ts'
import { formatOfFile, readArchive } from './reading.ts'
import { isConfiguration, moduleFiles, readTree, Scratch, wrapperOf } from './tree.ts'
import { readZip } from './zip-reading.ts'

interface ProviderArchive {
  /** Digest of the zip, in lower-case hexadecimal. Lock files have it with and without `zh:`. */
  readonly sha256: string
  readonly sizeBytes: number
  /** The other digest in lock files, `h1:` and base64, of the files in the zip. */
  readonly h1: string
  /** The SHA-256 of the zip, because the bytes of providers are never changed. */
  readonly contentDigest: string
}

/** @returns a consumer of the bytes of a file, in order; undefined to skip them */
type FileVisitor = (path: string) => ((chunk: Uint8Array) => void) | undefined

/**
 * Reads the whole zip of a provider without changing it.
 *
 * @param options.file path of the zip
 * @param options.type type of the provider: the zip must contain `terraform-provider-{type}*`
 * @param options.limits default: `providerLimits`
 * @param options.visit called with each file while its bytes are read
 * @throws ArchiveError
 */
export async function inspectProvider(options: {
  readonly file: string
  readonly type: string
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
  readonly visit?: FileVisitor | undefined
}): Promise<ProviderArchive> {
  const { file, type, limits = providerLimits, signal, visit } = options
  signal?.throwIfAborted()
  const reading = { file, limits, signal }
  if ((await formatOfFile(file, limits)) !== 'zip') {
    throw new ArchiveError(
      'NotAnArchive',
      'this is not a zip, and both CLIs install providers from zips only',
    )
  }
  const sha256 = await digestOf(file, signal)
  const h1 = packageDigest(await filesOf(reading, type, visit))
  const { size: sizeBytes } = await stat(file)
  return { sha256, sizeBytes, h1, contentDigest: sha256 }
}

async function filesOf(reading: ArchiveReading, type: string, visit?: FileVisitor) {
  const entries: (Pick<ArchiveEntry, 'path' | 'kind'> & { sha256: string })[] = []
  for await (const { path, kind, content } of readZip(reading)) {
    if (kind === 'symlink') {
      throw new ArchiveError('UnsafeArchive', `${quoted(path)} is a link: pack the file instead`)
    }
    const hash = createHash('sha256')
    const take = kind === 'file' ? visit?.(path) : undefined
    if (kind === 'file') {
      for await (const chunk of content) {
        hash.update(chunk)
        take?.(chunk)
      }
    }
    entries.push({ path, kind, sha256: hash.digest('hex') })
  }
  const files = entries.filter(({ kind }) => kind === 'file')
  const executable = `terraform-provider-${type}`
  if (!files.some(({ path }) => path.startsWith(executable))) {
    throw new ArchiveError(
      'NoProviderInArchive',
      `the zip does not contain ${quoted(`${executable}*`)}: it is not the archive of this provider`,
    )
  }
  return files
}

async function digestOf(file: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  await using source = await open(file)
  // One buffer for the whole file. A stream allocates one for every read, and they pile up until they are collected.
  const buffer = Buffer.allocUnsafe(256 * 1024)
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await source.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
  }
}

/**
 * Checks that CLIs can use the archive of a module unchanged. They unpack it by its format, and look for the module at its
 * root.
 *
 * @param options.format the format that CLIs are told
 * @param options.scratch path for scratch space, which is freed before the function returns
 * @returns whether the archive has a module at its root; otherwise it has some in `modules/`, which CLIs can use directly
 * @throws ArchiveError
 */
export async function inspectModule(options: {
  readonly file: string
  readonly format: 'zip' | 'tar.gz'
  readonly scratch: string
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
}): Promise<boolean> {
  const { file, format, limits = moduleLimits, signal } = options
  const reading = { file, limits, signal }
  const found = await formatOfFile(file, limits)
  if ((found === 'zip') !== (format === 'zip') || found === 'tar') {
    const actual = found === 'gzip' ? 'tar.gz' : found
    throw new ArchiveError(
      'NotAnArchive',
      `this is a ${actual}, and CLIs are told that it is a ${format}: name the file by its format, or pack it again`,
    )
  }
  const scratch = await Scratch.open(options.scratch)
  try {
    const { files } = await readTree(reading, scratch)
    if (files.some(({ path }) => isConfiguration(path))) return true
    if (files.some(({ path }) => /^modules\/[^/]+\/[^/]+\.(?:tf|tofu)(?:\.json)?$/.test(path)))
      return false
    moduleFiles(files, undefined)
    const wrapper = wrapperOf(files) ?? ''
    throw new ArchiveError(
      'NoModuleAtRoot',
      `all files are in the folder ${quoted(wrapper)}, and CLIs look at the root: pack the files without that folder, or use depot import, which removes it`,
    )
  } finally {
    await scratch.close()
  }
}

/**
 * Reads the files of an archive that a visitor wants. Links are skipped.
 *
 * @param visit called with each path, without a directory that wraps all files
 * @param directory of the archive to read, below that; default: its root
 * @throws ArchiveError, or what the visitor throws
 */
export async function visitFiles(
  reading: ArchiveReading,
  visit: FileVisitor,
  directory = '',
): Promise<void> {
  const files: { readonly path: string }[] = []
  for await (const { path, kind } of await readArchive(reading)) {
    if (kind !== 'directory') files.push({ path })
  }
  const parts = [wrapperOf(files) ?? '', ...directory.split('/')]
  const prefix = parts.flatMap((part) => (part === '' || part === '.' ? [] : [`${part}/`])).join('')
  for await (const { path, kind, content } of await readArchive(reading)) {
    if (kind !== 'file' || !path.startsWith(prefix)) continue
    const take = visit(path.slice(prefix.length))
    if (take !== undefined) for await (const chunk of content) take(chunk)
  }
}

/** The parts of the published name of a provider's archive. */
interface ProviderFileName {
  readonly type: string
  readonly version: string
  readonly os: string
  readonly arch: string
}

/** Depot adds the first digits of the digest to the names of archives that it stores. */
const pattern =
  /^terraform-provider-(?<type>[a-z0-9-]+)_(?<version>[^_]+)_(?<os>[a-z0-9]+)_(?<arch>[a-z0-9]+)(?:-[0-9a-f]{12})?\.zip$/

/** Reads `terraform-provider-TYPE_VERSION_OS_ARCH.zip`; undefined if the name has another form. */
export function providerFileName(name: string): ProviderFileName | undefined {
  const { type, version, os, arch } = pattern.exec(name)?.groups ?? {}
  if (!type || !version || !os || !arch || semver.valid(version) === null) return undefined
  return { type, version, os, arch }
}
