import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'

/** A parsed object, with the fields that every Kubernetes object has. */
export interface ObservedObject {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion: string
    readonly uid?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
    readonly ownerReferences?: unknown
  }
}

/** Returns undefined for anything except an object with a name and a resourceVersion. */
export function observe(raw: unknown): ObservedObject | undefined {
  const { name, resourceVersion } = metadataOf(raw) ?? {}
  const complete = isText(name) && isText(resourceVersion)
  return complete ? (raw as ObservedObject) : undefined
}

export function metadataOf(raw: unknown): Readonly<Record<string, unknown>> | undefined {
  const metadata = isRecord(raw) ? raw['metadata'] : undefined
  return isRecord(metadata) ? metadata : undefined
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * Whether both are numbers, as in every Kubernetes API server, and the first one is lower. They have up to 20 digits, too
 * many for a number of JavaScript.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  if (!/^\d+$/.test(resourceVersion) || !/^\d+$/.test(than)) return false
  if (resourceVersion.length !== than.length) return resourceVersion.length < than.length
  return resourceVersion < than
}
