import { Depot } from './depot.ts'
import { GroupBinding } from './group-binding.ts'
import { Module } from './module.ts'
import { Namespace } from './namespace.ts'
import { Provider } from './provider.ts'
import { Version } from './version.ts'

/** API version of the five kinds; the group is chosen by the operator. */
export const apiVersion = 'v1alpha1'

/** Every kind that Depot reads: its schema, and its name in API paths. */
export const kinds = {
  Namespace: { schema: Namespace, plural: 'namespaces', core: true },
  Module: { schema: Module, plural: 'modules', core: false },
  Provider: { schema: Provider, plural: 'providers', core: false },
  Version: { schema: Version, plural: 'versions', core: false },
  Depot: { schema: Depot, plural: 'depots', core: false },
  GroupBinding: { schema: GroupBinding, plural: 'groupbindings', core: false },
} as const

export type Kind = keyof typeof kinds
export const kindNames = Object.keys(kinds) as readonly Kind[]

/** A kind with a CustomResourceDefinition of Depot. */
export type CustomResourceKind = Exclude<Kind, 'Namespace'>
export const customResourceKinds = kindNames.filter((kind) => kind !== 'Namespace')
