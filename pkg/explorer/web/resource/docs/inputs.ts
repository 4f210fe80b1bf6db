import type { ModuleInput, VersionDocs } from '../../api/records.ts'
import type { DocsTab, Folder, ModuleTab } from '../../url/pages.ts'

export const tabNames: Readonly<Record<ModuleTab, string>> = {
  inputs: 'Inputs',
  outputs: 'Outputs',
  resources: 'Resources',
  dependencies: 'Dependencies',
  submodules: 'Submodules',
  examples: 'Examples',
  'used-by': 'Used by',
}

export function countsOf({
  root,
  submodules,
  examples,
}: VersionDocs): Readonly<Record<DocsTab, number>> {
  return {
    inputs: root.inputs.length,
    outputs: root.outputs.length,
    resources: root.resources.length,
    dependencies: root.providers.length + root.modules.length,
    submodules: submodules.length,
    examples: examples.length,
  }
}

/** The documentation of one folder, in the place of the root's; undefined if the version has no such folder. */
export function docsOfFolder(docs: VersionDocs, { tab, name }: Folder): VersionDocs | undefined {
  const root = docs[tab].find((one) => folderName(one) === name)
  return root && { ...docs, root }
}

/** The name of a folder: `peering` of `modules/peering`. */
export const folderName = ({ path }: { readonly path: string }): string =>
  path.slice(path.indexOf('/') + 1)

/** Inputs that a caller must set. */
export const requiredOf = (docs: VersionDocs | undefined): readonly ModuleInput[] =>
  docs?.root.inputs.filter(({ required }) => required) ?? []

/** Shorter lists have no filter. */
const longestUnfiltered = 10

export const hasFilter = (inputs: readonly ModuleInput[]): boolean =>
  inputs.length > longestUnfiltered

/** Required inputs first, and only those with a text in their name, type or description. */
export function listedInputs(inputs: readonly ModuleInput[], filter: string): ModuleInput[] {
  const wanted = hasFilter(inputs) ? filter.toLowerCase() : ''
  return inputs
    .filter(({ name, type, description }) =>
      [name, type, description].some((text) => text?.toLowerCase().includes(wanted)),
    )
    .toSorted((a, b) => Number(b.required) - Number(a.required))
}
