import { apiVersion, type Kind, kinds } from '../../api/v1alpha1/v1alpha1.ts'

const core = { root: '/api/v1', version: 'v1' } as const

/** Kinds other than Depot's own. */
const others = {
  Namespace: { ...core, plural: 'namespaces' },
  ConfigMap: { ...core, plural: 'configmaps' },
  Secret: { ...core, plural: 'secrets' },
  Event: { root: '/apis/events.k8s.io/v1', version: 'events.k8s.io/v1', plural: 'events' },
  Lease: {
    root: '/apis/coordination.k8s.io/v1',
    version: 'coordination.k8s.io/v1',
    plural: 'leases',
  },
} as const

/** A kind that is read or written. */
export type AnyKind = Kind | keyof typeof others

interface Place {
  /** Path of the API, such as `/apis/depot.internal/v1alpha1`. */
  readonly root: string
  /** As in objects. */
  readonly version: string
  readonly plural: string
}

export function placeOf(kind: AnyKind, apiGroup: string): Place {
  if (isOther(kind)) return others[kind]
  const version = `${apiGroup}/${apiVersion}`
  return { root: `/apis/${version}`, version, plural: kinds[kind].plural }
}

function isOther(kind: AnyKind): kind is keyof typeof others {
  return kind in others
}

/** Path of all objects of a kind, of those in a namespace, or of one. */
export function pathOf(
  ref: {
    readonly kind: AnyKind
    readonly namespace?: string | undefined
    readonly name?: string | undefined
  },
  apiGroup: string,
): string {
  const { kind, namespace, name } = ref
  const { root, plural } = placeOf(kind, apiGroup)
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  const collection = `${root}${scope}/${plural}`
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`
}
