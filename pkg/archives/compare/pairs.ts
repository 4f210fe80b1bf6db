import type { FolderDocs, InterfaceChange } from '../../api/docs/docs.ts'

/** A change in a folder whose name the caller knows. */
export type FolderChange = Omit<InterfaceChange, 'path'>

/** An item of both versions, or of one. */
export interface VersionPair<T> {
  readonly name: string
  readonly before?: T | undefined
  readonly after?: T | undefined
}

/** Pairs items by name: those of the later version in its order, then the removed ones. */
export function pairs<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): VersionPair<T>[] {
  const old = new Map(before.map((each) => [each.name, each]))
  const now = new Set(after.map(({ name }) => name))
  return [
    ...after.map((each) => ({ name: each.name, before: old.get(each.name), after: each })),
    ...before
      .filter(({ name }) => !now.has(name))
      .map((each) => ({ name: each.name, before: each })),
  ]
}

type Provider = FolderDocs['providers'][number]
type ModuleCall = FolderDocs['modules'][number]

/** Formats `hashicorp/aws ~> 5.0`, with the configurations that the caller passes. */
export const providerText = ({ name, source = name, version, aliases }: Provider): string =>
  [source, version ?? [], aliases.length > 0 ? `(${aliases.join(', ')})` : []].flat().join(' ')

/** Formats `terraform-aws-modules/vpc/aws ~> 5.0`. */
export const moduleText = ({ source, version }: ModuleCall): string =>
  [source ?? 'no source', version ?? []].flat().join(' ')
