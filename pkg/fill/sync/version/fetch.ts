import { hash } from 'node:crypto'
import { rename } from 'node:fs/promises'
import {
  type ArchiveFormat,
  type ArchiveLimits,
  inspectProvider,
  normaliseModule,
  storedName,
} from '../../../archives/archive/archive.ts'
import { type PackedDocs, PageCollector, packedDocs } from '../../../archives/docs/docs.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import {
  type FetchedArchive,
  type FetchOptions,
  FillError,
  type ProviderRelease,
} from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { Candidate, ReleaseDocument } from './work.ts'

/** Maximum disk space that unpacking and repacking a module takes, by the size of its archive. */
export function rewritingBytes(sizeBytes: number, limits: ArchiveLimits): number {
  const { packedBytes, unpackedBytes, ratio, ratioAboveBytes } = limits
  const unpacked = Math.min(unpackedBytes, Math.max(ratioAboveBytes, sizeBytes * ratio))
  return unpacked + Math.min(packedBytes, unpacked)
}

/**
 * Reserves room to unpack and repack a module. The wait has a deadline, because several fetched modules could wait for one
 * another in a small spool.
 *
 * @throws FillError WaitingForSpool
 */
async function roomBeside(
  { file, sizeBytes }: FetchedArchive,
  { spool, limits, timings: { roomMs } }: Context,
  { signal, onWaiting }: FetchOptions,
): Promise<SpoolFile> {
  const available = spool.sizeBytes - file.reservedBytes
  const wanted = Math.min(rewritingBytes(sizeBytes, limits.module), available)
  const deadline = AbortSignal.timeout(roomMs)
  try {
    return await spool.reserve(wanted, { signal: AbortSignal.any([signal, deadline]), onWaiting })
  } catch (cause) {
    if (signal.aborted || !deadline.aborted) throw cause
    throw new FillError('WaitingForSpool', 'the spool is full: raise --spool-size', { cause })
  }
}

/** Logged; the archive is served all the same. */
export const undocumented = 'the documentation of an archive could not be made'

/** Rewrites a fetched module, so that the same files give the same bytes. */
export async function fetchModule(
  context: Context,
  fetched: FetchedArchive,
  { format, stem }: { readonly format: ArchiveFormat; readonly stem: string },
  options: FetchOptions,
): Promise<Candidate> {
  const { path, revision } = fetched
  try {
    const file = await roomBeside(fetched, context, options)
    let docs: PackedDocs | undefined
    try {
      const archive = await normaliseModule({
        file: fetched.file.path,
        into: `${file.path}.normal`,
        format,
        path,
        limits: context.limits.module,
        signal: options.signal,
        visit: async ({ files, read }) => {
          docs = await packedDocs(files, read).catch((err: unknown) => {
            context.log.warn({ module: stem, err }, undocumented)
            return undefined
          })
        },
      })
      await rename(archive.file, file.path)
      const { sha256, sizeBytes, contentDigest, extension } = archive
      file.shrink(sizeBytes)
      const fileName = storedName(stem, `-${sha256.slice(0, 12)}${extension}`)
      return { file, fileName, sha256, sizeBytes, contentDigest, revision, docs }
    } catch (error) {
      await file.remove()
      throw error
    }
  } finally {
    await fetched.file.remove()
  }
}

/** Inspects the fetched archive of a verified release. */
export async function fetchProvider(
  { file }: FetchedArchive,
  release: ProviderRelease,
  { type, limits }: { readonly type: string; readonly limits: ArchiveLimits },
  { signal }: FetchOptions,
): Promise<Candidate> {
  try {
    const pages = new PageCollector()
    const visit = pages.take
    const inspected = await inspectProvider({ file: file.path, type, limits, signal, visit })
    const { sha256, sizeBytes, h1, contentDigest } = inspected
    if (sha256 !== release.shasum) {
      throw new FillError(
        'ChecksumMismatch',
        'the archive changed between its download and its check',
      )
    }
    const { fileName, revision, signer, signatureState } = release
    const stem = fileName.replace(/\.zip$/i, '')
    return {
      file,
      fileName: storedName(stem, `-${sha256.slice(0, 12)}.zip`),
      sha256,
      sizeBytes,
      contentDigest,
      revision,
      docs: await pages.packed(),
      hashes: [h1, ...new Set([`zh:${sha256}`, ...[...release.hashes.values()].toSorted()])],
      release: {
        fileName,
        documents: documentsOf(type, release),
        keyFingerprint: signer?.fingerprint,
        isSigned: signatureState === 'Verified',
      },
    }
  } catch (error) {
    await file.remove()
    throw error
  }
}

/** The documents of a release. Their names hold their digests, so each is written once. */
function documentsOf(
  type: string,
  { version, shasums, signature, key }: ProviderRelease,
): ReleaseDocument[] {
  const document = (field: ReleaseDocument['field'], ending: string, bytes: Buffer) => {
    const digest = hash('sha256', bytes).slice(0, 12)
    return { field, bytes, fileName: storedName(`${type}_${version}`, `_${digest}.${ending}`) }
  }
  return [
    document('shasums', 'SHA256SUMS', shasums),
    ...(signature === undefined ? [] : [document('signature', 'SHA256SUMS.sig', signature)]),
    ...(key === undefined ? [] : [document('keys', 'keys.asc', Buffer.from(key))]),
  ]
}
