import {
  apiVersionOf,
  type FieldIssue,
  isRecord,
  type Kind,
  kindNames,
  type ObjectKey,
  parseResource,
  parseStatus,
  type Resource,
  unknownFieldsIn,
} from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { FieldPath } from './documents.ts'

/** The result of reading one object of a document. */
export type Reading =
  | { readonly type: 'ignored' }
  | {
      readonly type: 'accepted'
      readonly key: ObjectKey
      readonly resource: Resource
      /** As in the file. */
      readonly value: Fields
      /** Fields without a meaning; undefined if there are none. */
      readonly unknown?: readonly FieldIssue[]
    }
  | { readonly type: 'status'; readonly key: ObjectKey; readonly status: StatusReading }
  | {
      readonly type: 'rejected'
      readonly kind: Kind | 'unknown'
      /** Undefined if the object cannot be identified. */
      readonly key: ObjectKey | undefined
      readonly issues: readonly FieldIssue[]
    }

/** A status in a separate file. */
export interface StatusReading {
  /** As parsed by its schema. */
  readonly parsed: unknown
  readonly raw: unknown
}

/** An object and its path in its document. */
export interface Placed {
  readonly value: unknown
  readonly path: FieldPath
}

/** The header of a list. Its items inherit it if the API server omits it from them. */
export interface ListHeader {
  readonly apiVersion?: unknown
  readonly kind?: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Splits lists: `kind: List` as kubectl prints it, and `VersionList` as the API server does. */
export function* objectsIn(value: unknown, path: FieldPath = []): Generator<Placed> {
  const items = isList(value) ? value['items'] : undefined
  if (!isList(value) || !Array.isArray(items)) {
    yield { value, path }
    return
  }
  for (const [index, item] of items.entries()) {
    yield* objectsIn(inherit(item, value), [...path, 'items', index])
  }
}

/** Whether a document is a list of objects. */
export function isList(value: unknown): value is Fields & ListHeader {
  if (!isRecord(value) || typeof value['kind'] !== 'string') return false
  const { kind } = value
  return kind === 'List' || (kind.endsWith('List') && isKind(kind.slice(0, -'List'.length)))
}

export function inherit(item: unknown, list: ListHeader): unknown {
  if (!isRecord(item) || list.kind === 'List' || typeof list.kind !== 'string') return item
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...item }
}

/**
 * Checks one object. Objects of other kinds and groups are ignored.
 *
 * @param mayBeStatus whether the object may be a status without spec
 */
export function readObject(value: unknown, apiGroup: string, mayBeStatus: boolean): Reading {
  if (value === null || value === undefined) return { type: 'ignored' }
  if (!isRecord(value)) return rejected('unknown', undefined, [], 'is not an object')
  const kind = kindOf(value)
  if (!isOurs(value, kind, apiGroup)) return { type: 'ignored' }
  if (kind === undefined) {
    const message = `must be one of ${kindNames.filter((name) => name !== 'Namespace').join(', ')}`
    return rejected('unknown', undefined, ['kind'], message)
  }
  const key = keyOf(kind, value)
  if (value['apiVersion'] !== apiVersionOf(kind, apiGroup)) {
    return rejected(kind, key, ['apiVersion'], `must be ${apiVersionOf(kind, apiGroup)}`)
  }
  try {
    if (mayBeStatus && key !== undefined && 'status' in value && !('spec' in value)) {
      const found = parseStatus(kind, value)
      // Such a mistake does not reject the object.
      if (!found.ok) return { type: 'rejected', kind, key: undefined, issues: found.issues }
      return { type: 'status', key, status: { parsed: found.status, raw: value['status'] } }
    }
    const parsed = parseResource(kind, value)
    if (!parsed.ok) return { type: 'rejected', kind, key, issues: parsed.issues }
    const { resource } = parsed
    const { namespace, name } = resource.metadata
    const unknown = unknownFieldsIn(kind, value)
    const accepted = { type: 'accepted', key: { kind, namespace, name }, resource, value } as const
    return unknown.length === 0 ? accepted : { ...accepted, unknown }
  } catch (error) {
    // Nested so deeply that checking it exceeds the stack.
    return rejected(kind, key, [], messageOf(error))
  }
}

/** The object that a broken document seems to contain. */
export function guessOf(value: unknown): { kind: Kind | 'unknown'; key: ObjectKey | undefined } {
  const kind = isRecord(value) ? kindOf(value) : undefined
  if (!isRecord(value) || kind === undefined) return { kind: 'unknown', key: undefined }
  return { kind, key: keyOf(kind, value) }
}

/** Whether an object without apiVersion or kind is probably ours, so that the mistake must be reported. */
function isOurs(value: Fields, kind: Kind | undefined, apiGroup: string): boolean {
  const version = value['apiVersion'] ?? undefined
  // The first line of a truncated file.
  const [only, ...others] = Object.keys(value)
  const beginning = version ?? ''
  const isBeginning =
    typeof beginning === 'string' && apiVersionOf('Version', apiGroup).startsWith(beginning)
  if (only === 'apiVersion' && others.length === 0 && isBeginning) return true
  if (typeof version === 'string') {
    return version.startsWith(`${apiGroup}/`) || (kind === 'Namespace' && version === 'v1')
  }
  if (kind !== undefined) return true
  return version === undefined && value['kind'] === undefined && 'metadata' in value
}

function keyOf(kind: Kind, value: Fields): ObjectKey | undefined {
  const metadata = value['metadata']
  if (!isRecord(metadata)) return undefined
  const { name, namespace = null } = metadata
  if (typeof name !== 'string' || name === '') return undefined
  if (kind === 'Namespace') return { kind, namespace: '', name }
  if (namespace === null) return { kind, namespace: 'default', name }
  if (typeof namespace !== 'string' || namespace === '') return undefined
  return { kind, namespace, name }
}

function rejected(
  kind: Kind | 'unknown',
  key: ObjectKey | undefined,
  path: FieldPath,
  message: string,
): Reading {
  return { type: 'rejected', kind, key, issues: [{ path, message }] }
}

function kindOf({ kind }: Fields): Kind | undefined {
  return typeof kind === 'string' && isKind(kind) ? kind : undefined
}

function isKind(name: string): name is Kind {
  return (kindNames as readonly string[]).includes(name)
}
