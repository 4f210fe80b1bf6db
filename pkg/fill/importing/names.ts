import { freeName, objectName } from '../sync/sync.ts'
import type { ImportItem, ImportParent } from './item.ts'

/** Candidates for the name of an object. */
export interface CandidateNames {
  /** Readable; with a digest if another object could have the same readable name. */
  readonly name: string
  /** The name that early imports gave. */
  readonly former: string
  /** Always with a digest, for a name that is taken. */
  readonly distinct: string
}

/** Names for a Module or Provider. */
export function parentNames({ kind, namespace, name, system }: ImportParent): CandidateNames {
  // The last dash separates name and system, so `vpc-flow/aws` and `vpc/flow-aws` need different names.
  const isPlain = /^[a-z0-9-]+$/.test(name) && /^[a-z0-9]*$/.test(system ?? '')
  const readable = objectName(...[name, system].filter((part) => part !== undefined))
  return candidates(readable, [kind, namespace, name, system].join('/'), isPlain)
}

/** @param parentIs name of the Version's parent */
export function versionNames(
  { parent, version, platform }: ImportItem,
  parentIs: string,
): CandidateNames {
  const names = parentNames(parent)
  // Versions of a parent with a former name use the parent's new name, as earlier imports did.
  const base = parentIs === names.former ? names.name : parentIs
  const target = platform ? [platform.os, platform.arch] : []
  const parts = [version.replace('+', '-build-'), ...target]
  // `1.0.0-a.b`, `1.0.0-a-b` and `1.0.0-A.B` are different versions.
  const isPlain = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)
  const identity = [version, ...target].join('/')
  const own = candidates(objectName(base, ...parts), identity, isPlain)
  return { ...own, former: objectName(parentIs, ...parts) }
}

/** @param isPlain whether no other object can have the same readable name */
function candidates(readable: string, identity: string, isPlain: boolean): CandidateNames {
  const named = (isTaken: boolean) => freeName(readable, identity, () => isTaken)
  return { name: named(!isPlain), former: readable, distinct: named(true) }
}
