import type { GroupBinding, ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { itemsOf } from '../sync/sync.ts'
import { about, isOf, type LintFinding, type PlacedObject } from './finding.ts'

/** A GroupBinding as the server compiles it. */
export interface CompiledBinding {
  readonly problem: string | undefined
  /** A function for each pattern of moduleResources. */
  readonly modules: readonly ((name: string) => boolean)[]
}

/** Finds names and patterns that match no module or provider, also none that a Depot of the manifests will make. */
export function* unmatchedNames(
  binding: PlacedObject<GroupBinding>,
  { modules }: CompiledBinding,
  names: Readonly<Record<ParentKind, readonly string[]>>,
): Generator<LintFinding> {
  if (names.Module.length + names.Provider.length === 0) return
  const { moduleResources = [], providerResources = [] } = binding.resource.spec
  const unmatched = (kind: ParentKind, field: string, index: number, text: string) =>
    about(
      binding,
      'no-match',
      `${JSON.stringify(text)} matches no ${kind.toLowerCase()} of these manifests: write the metadata.name of one`,
      { level: 'warning', path: ['spec', field, index] },
    )
  for (const [index, text] of moduleResources.entries()) {
    if (modules[index] === undefined || names.Module.some(modules[index])) continue
    yield unmatched('Module', 'moduleResources', index, text)
  }
  for (const [index, text] of providerResources.entries()) {
    if (text === '*' || names.Provider.includes(text)) continue
    yield unmatched('Provider', 'providerResources', index, text)
  }
}

/** The names of modules and providers that bindings refer to. */
export function parentNames(
  objects: readonly PlacedObject[],
): Readonly<Record<ParentKind, readonly string[]>> {
  const made = objects.filter(isOf('Depot')).flatMap(({ resource }) => itemsOf(resource, []))
  const namesOf = (kind: ParentKind): string[] => [
    ...objects.filter(isOf(kind)).map(({ key }) => key.name),
    ...made.flatMap((item) => (item.kind === kind ? [item.objectName] : [])),
  ]
  return { Module: namesOf('Module'), Provider: namesOf('Provider') }
}
