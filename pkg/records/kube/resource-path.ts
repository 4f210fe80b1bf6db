import { apiVersion, type Kind, kinds } from '../../api/v1alpha1/v1alpha1.ts'

/** Kinds that are not Depot's own and that it reads or writes one by one. */
const others = {
  ConfigMap: { root: '/api/v1', version: 'v1', plural: 'configmaps' },
  Secret: { root: '/api/v1', version: 'v1', plural: 'secrets' },
  Event: { root: '/apis/events.k8s.io/v1', version: 'events.k8s.io/v1', plural: 'events' },
  Lease: {
    root: '/apis/coordination.k8s.io/v1',
    version: 'coordination.k8s.io/v1',
    plural: 'leases',
  },
} as const

/** A kind that is written by name. */
export type WrittenKind = Exclude<Kind, 'Namespace'> | keyof typeof others

/** The object of a request. */
export interface ObjectRef {
  readonly kind: WrittenKind
  readonly namespace: string
  readonly name: string
}

interface Place {
  /** Path of the API, such as `/apis/depot.internal/v1alpha1`. */
  readonly root: string
  /** As objects carry it. */
  readonly version: string
  readonly plural: string
}

export function placeOf(kind: WrittenKind, apiGroup: string): Place {
  if (isOther(kind)) return others[kind]
  const version = `${apiGroup}/${apiVersion}`
  return { root: `/apis/${version}`, version, plural: kinds[kind].plural }
}

/** Path of a collection, or of an object in it. */
export function pathOf(
  { kind, namespace, name }: Omit<ObjectRef, 'name'> & { readonly name?: string },
  apiGroup: string,
): string {
  const { root, plural } = placeOf(kind, apiGroup)
  const collection = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`
}

function isOther(kind: WrittenKind): kind is keyof typeof others {
  return kind in others
}
