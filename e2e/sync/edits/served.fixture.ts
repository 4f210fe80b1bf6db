import type { ArchiveLocation } from '../../../pkg/api/v1alpha1/v1alpha1.ts'
import type { ArchiveStore } from '../../../pkg/archives/storage/storage.ts'
import { messageOf } from '../../../pkg/base/errors/errors.ts'
import type { Catalog } from '../../../pkg/registry/catalog/catalog.ts'

/** An archive that a server sends: of a Module or Provider, by version and platform. */
export interface Installable {
  /** Such as `Module vpc 1.0.0`. */
  readonly key: string
  readonly parent: string
  readonly version: string
  readonly platform: string
}

/** Everything that a server would send with the right digest, and the problems of the rest. */
export async function installableIn(catalog: Catalog, namespace: string, archives: ArchiveStore) {
  await catalog.model.whenSettled
  const installable = new Map<string, Installable>()
  const problems: string[] = []
  const broken: string[] = []
  for (const answer of answersOf(catalog, namespace)) {
    const { parent, version, platform, unserved } = answer
    const key = `${parent} ${version} ${platform}`.trim()
    const problem = await problemOf(answer, archives)
    if (problem === undefined) installable.set(key, { key, parent, version, platform })
    else problems.push(`${key}: ${problem}`)
    if (problem !== undefined && unserved === undefined) broken.push(`${key}: ${problem}`)
  }
  return { installable, problems, broken }
}

/** A Version as a server answers now. Its row changes with its next change. */
interface Answer {
  readonly parent: string
  readonly version: string
  readonly platform: string
  readonly location: ArchiveLocation | undefined
  readonly sha256: string | undefined
  /** Reason why it is not served. */
  readonly unserved: string | undefined
}

function answersOf(catalog: Catalog, namespace: string): Answer[] {
  const parents = [catalog.modules, catalog.providers].flatMap((kind) => [
    ...(kind.get(namespace)?.values() ?? []),
  ])
  return parents.flatMap((parent) =>
    parent.versions.map(({ version, os, arch, location, sha256, downloadable, unserved }) => ({
      parent: `${parent.kind} ${parent.name}`,
      version,
      platform: os === undefined ? '' : `${os}/${arch}`,
      location,
      sha256,
      unserved: downloadable ? undefined : (unserved?.message ?? 'it is a duplicate'),
    })),
  )
}

/** Reason why a Version cannot be installed; undefined if it can. */
async function problemOf(
  { location, sha256, unserved }: Answer,
  archives: ArchiveStore,
): Promise<string | undefined> {
  if (unserved !== undefined || location === undefined || sha256 === undefined) return unserved
  const { driver, object } = archives.for(location.storage, location.configName)
  const name = object(location.fileName)
  try {
    const { sizeBytes } = await driver.stat(name)
    const isWhole = await driver.verify(name, { sizeBytes, sha256 }, { read: true })
    return isWhole ? undefined : `${name} has another digest`
  } catch (error) {
    // A busy disk may not answer in time, so the read is repeated.
    return `${name}: ${messageOf(error)}`
  }
}
