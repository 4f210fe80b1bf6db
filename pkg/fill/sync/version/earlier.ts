import semver, { type SemVer } from 'semver'
import { conditionOf } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { versionOfStored } from '../parent/versions.ts'
import { isPatience } from '../status.ts'
import { type Earlier, versionStatus } from './work.ts'

interface Numbered {
  readonly number: SemVer
  readonly object: StoredObject
}

/** Versions of a module, newest first. Those before 1.0.0 and those without a semantic version are left out. */
function numbered(siblings: readonly StoredObject[]): Numbered[] {
  return siblings
    .flatMap((object) => {
      const number = semver.parse(versionOfStored(object))
      return number === null || number.major === 0 ? [] : [{ number, object }]
    })
    .toSorted((a, b) => semver.rcompare(a.number, b.number))
}

/** The earlier version of each Version that has one. */
export function earlierOfAll(
  siblings: readonly StoredObject[],
): (readonly [StoredObject, Earlier])[] {
  const all = numbered(siblings)
  return all.map(({ number, object }, at) => [object, before(number, all, at + 1)])
}

/** @param isComplete whether all siblings exist */
export function earlierOf(
  version: string,
  siblings: readonly StoredObject[],
  isComplete: boolean,
): Earlier {
  const number = semver.parse(version)
  if (number === null || number.major === 0) return undefined
  if (!isComplete) return 'awaited'
  const isClose = (one: StoredObject) => versionOfStored(one).startsWith(`${number.major}.`)
  return before(number, numbered(siblings.filter(isClose)), 0)
}

/** @param from index of the first one to look at */
function before(number: SemVer, newestFirst: readonly Numbered[], from: number): Earlier {
  for (let at = from; at < newestFirst.length; at += 1) {
    const one = newestFirst[at]
    if (one === undefined || one.number.major !== number.major) return undefined
    // Nothing is promised to those who use a prerelease.
    if (one.number.prerelease.length > 0 || one.number.compare(number) >= 0) continue
    const state = stateOf(one.object)
    if (state === 'stored') return one.object
    if (state === 'awaited') return 'awaited'
  }
  return undefined
}

/** Whether a Version has an archive, may get one soon, or does not count. */
function stateOf({ metadata, spec, status }: StoredObject): 'stored' | 'awaited' | 'none' {
  if (metadata.deletionTimestamp !== undefined) return 'none'
  const { artifact, conditions } = versionStatus({ status } as StoredObject)
  if (artifact?.sha256 !== undefined && artifact.fileName !== undefined) return 'stored'
  if ((spec as { readonly suspend?: boolean }).suspend === true) return 'none'
  const ready = conditionOf({ conditions }, 'Ready')
  return ready?.status === 'False' && !isPatience(ready.reason) ? 'none' : 'awaited'
}
