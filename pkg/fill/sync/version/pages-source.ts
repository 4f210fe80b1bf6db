import { visitFiles } from '../../../archives/archive/archive.ts'
import { type PackedDocs, PageCollector } from '../../../archives/docs/docs.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, latestOf } from '../context.ts'
import { resourceOf } from '../resource.ts'
import { providerConfigOf } from './parent-of.ts'
import { placeOf } from './plan.ts'

/**
 * Fetches the documentation of a provider version from the repository that its config names.
 *
 * @returns undefined if the config names none
 * @throws FillError, ArchiveError
 */
export async function pagesFromSource(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<PackedDocs | undefined> {
  const place = pagesSourceOf(context, object)
  if (place === undefined) return undefined
  const { source, name, version, githubClientConfig } = place
  const { namespace } = object.metadata
  const key = JSON.stringify([namespace, name, version, source])
  const upstream = context.sources.module({ name, source, githubClientConfig }, namespace)
  const limits = context.limits.module
  const make = async () => {
    // It begins after the wait for another caller.
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(context.timings.roomMs)])
    const resolved = await upstream.resolve(version, { signal: deadline })
    const { file, path } = await upstream.fetch(resolved, { signal: deadline, limits })
    try {
      const pages = new PageCollector()
      await visitFiles({ file: file.path, limits, signal }, pages.take, path)
      return await pages.packed({ isEmptyToo: true })
    } finally {
      await file.remove()
    }
  }
  return context.pages.get(key, make, { signal })
}

/** The repository with the documentation of a provider version; undefined for modules, too. */
export function pagesSourceOf(context: Context, object: StoredObject) {
  const version = resourceOf('Version', latestOf(context, object))
  if (version.spec.type !== 'Provider') return undefined
  const { parent, configName: name, version: number } = placeOf(context, version)
  const { docs: source, githubClientConfig } = providerConfigOf(parent, version)
  return source && { source, name, version: number, githubClientConfig }
}
