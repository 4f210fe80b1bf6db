import { createHash } from 'node:crypto'
import type { ImportItem, ImportParent } from './item.ts'

/** Kubernetes allows 253 characters, file systems 255. */
const maxLength = 200

/** What an object may be named. */
export interface Names {
  /** Readable, with a digest where another one could be named alike. */
  readonly name: string
  /** What imports named it at first. */
  readonly former: string
  /** With a digest, where the name is taken. */
  readonly distinct: string
}

/** What a Module or Provider may be named. */
export function parentNames({ kind, namespace, name, system }: ImportParent): Names {
  // The last dash parts name and system, so neither `vpc-flow/aws` nor `vpc/flow-aws` may be read as the other one.
  const isPlain = /^[a-z0-9-]+$/.test(name) && /^[a-z0-9]*$/.test(system ?? '')
  const former = plainName(name, system)
  const distinct = withDigest(former, [kind, namespace, name, system].join('/'))
  return { name: isPlain && former.length <= maxLength ? former : distinct, former, distinct }
}

/** What a Version may be named, whose parent is named so. */
export function versionNames({ parent, version, platform }: ImportItem, parentIs: string): Names {
  const names = parentNames(parent)
  // Versions of a parent with a former name have its newer name, as imports before this one named them.
  const base = parentIs === names.former ? names.name : parentIs
  const parts = [version.replace('+', '-build-'), platform?.os, platform?.arch]
  // `1.0.0-a.b`, `1.0.0-a-b` and `1.0.0-A.B` are three versions.
  const isPlain = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)
  const readable = plainName(base, ...parts)
  const identity = [version, ...(platform ? [platform.os, platform.arch] : [])].join('/')
  const distinct = withDigest(readable, identity)
  const name = isPlain && readable.length <= maxLength ? readable : distinct
  return { name, former: plainName(parentIs, ...parts), distinct }
}

/** Parts in the characters that names of objects may have. */
function plainName(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined)
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
}

function withDigest(readable: string, identity: string): string {
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 8)
  return `${readable.slice(0, maxLength - 9).replace(/-+$/, '')}-${digest}`
}
