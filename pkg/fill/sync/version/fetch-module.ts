import { rename } from 'node:fs/promises'
import {
  type ArchiveLimits,
  normaliseModule,
  storedName,
} from '../../../archives/archive/archive.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { FetchedArchive, FetchOptions, ResolvedVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import type { Candidate } from './candidate.ts'
import type { ModulePlan } from './plan.ts'

/** What a module may take at most while it is unpacked and packed again, by what its archive takes. */
export function rewritingBytes(sizeBytes: number, limits: ArchiveLimits): number {
  const { packedBytes, unpackedBytes, ratio, ratioAboveBytes } = limits
  const unpacked = Math.min(unpackedBytes, Math.max(ratioAboveBytes, sizeBytes * ratio))
  return unpacked + Math.min(packedBytes, unpacked)
}

/**
 * Room for what a module is unpacked and packed again into. Several that have fetched could wait for one another in a small
 * spool, so that none waits for ever.
 *
 * @throws Failure WaitingForSpool
 */
async function roomBeside(
  { file, sizeBytes }: FetchedArchive,
  { spool, limits, timings: { roomMs } }: Context,
  { signal, onWaiting }: FetchOptions,
): Promise<SpoolFile> {
  const wanted = Math.min(
    rewritingBytes(sizeBytes, limits.module),
    spool.sizeBytes - file.reservedBytes,
  )
  const deadline = AbortSignal.timeout(roomMs)
  try {
    const options = { signal: AbortSignal.any([signal, deadline]), ...(onWaiting && { onWaiting }) }
    return await spool.reserve(wanted, options)
  } catch (error) {
    if (signal.aborted || !deadline.aborted) throw error
    throw new Failure('WaitingForSpool', 'the spool is full: raise --spool-size', { cause: error })
  }
}

/** Fetches a module and rewrites it, so that the same files give the same bytes. */
export async function fetchModule(
  context: Context,
  plan: ModulePlan,
  resolved: ResolvedVersion,
  options: FetchOptions,
): Promise<Candidate> {
  const limits = context.limits.module
  const fetched = await plan.source.fetch(resolved, options)
  try {
    const reserved = await roomBeside(fetched, context, options)
    try {
      const { path } = fetched
      const archive = await normaliseModule({
        file: fetched.file.path,
        into: `${reserved.path}.normal`,
        format: plan.format,
        path,
        limits,
        signal: options.signal,
      })
      await rename(archive.file, reserved.path)
      reserved.shrink(archive.sizeBytes)
      const { sha256, sizeBytes, contentDigest, extension } = archive
      const stem = `${plan.configName}-${plan.version}`
      const { revision } = fetched
      return {
        file: reserved,
        fileName: storedName(stem, `-${sha256.slice(0, 12)}${extension}`),
        sha256,
        sizeBytes,
        contentDigest,
        revision,
      }
    } catch (error) {
      await reserved.remove()
      throw error
    }
  } finally {
    await fetched.file.remove()
  }
}
