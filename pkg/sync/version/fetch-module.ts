import { rename } from 'node:fs/promises'
import { moduleLimits, normaliseModule } from '../../archive/archive.ts'
import type { FetchOptions, Resolved } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { Candidate } from './candidate.ts'
import type { ModulePlan } from './plan.ts'

/** Fetches a module and rewrites it, so that the same files give the same bytes. */
export async function fetchModule(
  { spool }: Context,
  plan: ModulePlan,
  resolved: Resolved,
  options: FetchOptions,
): Promise<Candidate> {
  const fetched = await plan.source.fetch(resolved, options)
  try {
    const { signal } = options
    const reserved = await spool.reserve(moduleLimits.packedBytes, {
      signal,
      ...(options.onWaiting && { onWaiting: options.onWaiting }),
    })
    try {
      const { path } = fetched
      const archive = await normaliseModule({
        file: fetched.file.path,
        into: `${reserved.path}.normal`,
        format: plan.format,
        path,
        signal,
      })
      await rename(archive.file, reserved.path)
      reserved.shrink(archive.sizeBytes)
      const { sha256, sizeBytes, contentDigest, extension } = archive
      const stem = `${plan.configName}-${plan.version}-${sha256.slice(0, 12)}`
      const { revision } = fetched
      return {
        file: reserved,
        fileName: stem + extension,
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
