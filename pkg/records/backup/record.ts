import { type CustomResourceKind, customResourceKinds } from '../../api/v1alpha1/v1alpha1.ts'

/** An object in a backup. */
export interface BackedUp {
  readonly apiVersion: string
  readonly kind: 'Namespace' | 'ConfigMap' | CustomResourceKind
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
export const order = ['Namespace', 'ConfigMap', ...customResourceKinds] as const

export const isCustom = (kind: BackedUp['kind']): boolean =>
  customResourceKinds.some((known) => known === kind)

export function titleOf({ kind, metadata: { name, namespace } }: BackedUp): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
