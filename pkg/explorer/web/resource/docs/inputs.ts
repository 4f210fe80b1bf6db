import type { ModuleInput, VersionDocs } from '../../api/records.ts'
import type { DocsTab } from '../../url/pages.ts'

export const tabNames: Readonly<Record<DocsTab, string>> = {
  inputs: 'Inputs',
  outputs: 'Outputs',
  resources: 'Resources',
  dependencies: 'Dependencies',
}

export function countsOf({ root }: VersionDocs): Readonly<Record<DocsTab, number>> {
  return {
    inputs: root.inputs.length,
    outputs: root.outputs.length,
    resources: root.resources.length,
    dependencies: root.providers.length + root.modules.length,
  }
}

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
