import { customResourceKinds, kinds } from '../../api/v1alpha1/v1alpha1.ts'

/** An object in a backup. */
export interface BackedUp {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly unknown[]
  }
  readonly spec?: object
  readonly status?: object
  readonly data?: object
}

/** Every kind in a backup, in the order of a restore. */
export const order = ['Namespace', 'ConfigMap', ...customResourceKinds]

/** Path of the objects of a kind, in one or all namespaces. */
export function collection(kind: string, apiGroup: string, namespace?: string): string {
  if (kind === 'Namespace') return '/api/v1/namespaces'
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
  if (kind === 'ConfigMap') return `/api/v1${scope}/configmaps`
  const custom = customResourceKinds.find((known) => known === kind)
  if (custom === undefined) throw new Error(`a backup has no ${kind}`)
  return `/apis/${apiGroup}/v1alpha1${scope}/${kinds[custom].plural}`
}

export const isCustom = (kind: string): boolean =>
  customResourceKinds.some((known) => known === kind)

export function titleOf({ kind, metadata: { name, namespace } }: BackedUp): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
