import { hash } from 'node:crypto'
import type { ImportItem, ImportParent } from './item.ts'

/** Kubernetes allows 253 characters, file systems 255. */
const maxLength = 200

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
  const former = plainName(name, system)
  const distinct = withDigest(former, [kind, namespace, name, system].join('/'))
  return { name: isPlain && former.length <= maxLength ? former : distinct, former, distinct }
}

/** @param parentIs name of the Version's parent */
export function versionNames(
  { parent, version, platform }: ImportItem,
  parentIs: string,
): CandidateNames {
  const names = parentNames(parent)
  // Versions of a parent with a former name use the parent's new name, as earlier imports did.
  const base = parentIs === names.former ? names.name : parentIs
  const parts = [version.replace('+', '-build-'), platform?.os, platform?.arch]
  // `1.0.0-a.b`, `1.0.0-a-b` and `1.0.0-A.B` are different versions.
  const isPlain = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)
  const readable = plainName(base, ...parts)
  const identity = [version, ...(platform ? [platform.os, platform.arch] : [])].join('/')
  const distinct = withDigest(readable, identity)
  const name = isPlain && readable.length <= maxLength ? readable : distinct
  return { name, former: plainName(parentIs, ...parts), distinct }
}

/** Joins parts and replaces characters that names of objects may not have. */
function plainName(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined)
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
}

function withDigest(readable: string, identity: string): string {
  const digest = hash('sha256', identity).slice(0, 8)
  return `${readable.slice(0, maxLength - 9).replace(/-+$/, '')}-${digest}`
}
