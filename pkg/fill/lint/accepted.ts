import { configOfParent, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../base/errors/errors.ts'
import { endOf } from '../policy/policy.ts'
import { about, type LintFinding, type PlacedObject } from './finding.ts'
import type { ManifestParents, PlacedParent } from './parents.ts'

/** Finds entries of scanPolicy.ignore that have ended, and those with ids that no scan of a version has found. */
export function* acceptedFindings(
  parents: ManifestParents,
  versions: readonly PlacedObject<Version>[],
): Generator<LintFinding> {
  const found = foundIn(parents, versions)
  for (const parent of parents.all) {
    const { ignore = [] } = configOfParent(parent.resource).scanPolicy ?? {}
    const ids = found.get(parent)
    const config = parent.resource.kind === 'Module' ? 'moduleConfig' : 'providerConfig'
    for (const [index, { id, until }] of ignore.entries()) {
      const path = ['spec', config, 'scanPolicy', 'ignore', index]
      const endMs = attempt(() => endOf(until))
      if (endMs !== undefined && endMs <= Date.now()) {
        const message = `${id} is accepted no longer, it was until ${until}: remove the entry, or extend it`
        yield about(parent, 'accepted-finding', message, { level: 'warning', path })
      } else if (ids !== undefined && !ids.has(id)) {
        const message = `no scan of its versions found ${id}: correct the id, or remove the entry`
        yield about(parent, 'accepted-finding', message, { level: 'warning', path })
      }
    }
  }
}

/** The ids that scans found, by parent. Unknown without a scan, or if a list of findings is not whole. */
function foundIn(
  parents: ManifestParents,
  versions: readonly PlacedObject<Version>[],
): ReadonlyMap<PlacedParent, ReadonlySet<string>> {
  const found = new Map<PlacedParent, Set<string>>()
  const unknown = new Set<PlacedParent>()
  for (const version of versions) {
    const parent = parents.of(version)
    const { scan, dependencyScan, sourceScan, binaryScan, artifact } = version.resource.status ?? {}
    if (parent === undefined) continue
    const isPending = artifact?.source?.sha256 !== undefined && dependencyScan === undefined
    const isCut = scan?.truncated || dependencyScan?.truncated
    if (scan === undefined || isPending || isCut) unknown.add(parent)
    const ids = found.get(parent) ?? new Set()
    found.set(parent, ids)
    for (const one of [sourceScan, binaryScan]) {
      for (const { vulnerabilityID } of one?.findings ?? []) ids.add(vulnerabilityID)
    }
  }
  for (const parent of unknown) found.delete(parent)
  return found
}
