import { createHash } from 'node:crypto'
import type { ImportItem, ImportParent } from './item.ts'

/** Kubernetes allows 253 characters, file systems 255. */
const maxLength = 200

/** What a Module or Provider is named: readable, with a digest where another one could be named alike. */
export function parentName({ kind, namespace, name, system }: ImportParent): string {
  // The last dash parts name and system, so neither `vpc-flow/aws` nor `vpc/flow-aws` may be read as the other one.
  const isPlain = /^[a-z0-9-]+$/.test(name) && /^[a-z0-9]*$/.test(system ?? '')
  return unlike(plainName(name, system), isPlain, [kind, namespace, name, system].join('/'))
}

/** What a Version is named. */
export function versionName({ parent, version, platform }: ImportItem): string {
  const parts = platform === undefined ? [] : [platform.os, platform.arch]
  // `1.0.0-a.b`, `1.0.0-a-b` and `1.0.0-A.B` are three versions.
  const isPlain = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/.test(version)
  const readable = plainName(parentName(parent), version.replace('+', '-build-'), ...parts)
  return unlike(readable, isPlain, [version, ...parts].join('/'))
}

/** Parts in the characters that names of objects may have, as imports named everything at first. */
export function plainName(...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined)
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
}

function unlike(readable: string, isPlain: boolean, identity: string): string {
  if (isPlain && readable.length <= maxLength) return readable
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, 8)
  return `${readable.slice(0, maxLength - 9).replace(/-+$/, '')}-${digest}`
}
