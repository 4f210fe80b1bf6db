import type { ModuleInput, VersionDocs } from '../../api/records.ts'
import { type DocsTab, type Folder, folderTabs, type ModuleTab } from '../../url/pages.ts'

export const tabNames: Readonly<Record<ModuleTab, string>> = {
  inputs: 'Inputs',
  outputs: 'Outputs',
  resources: 'Resources',
  dependencies: 'Dependencies',
  submodules: 'Submodules',
  examples: 'Examples',
  versions: 'Versions',
  findings: 'Findings',
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

/** The part of the same module that a relative source names; undefined for any other source. */
export function localFolder(
  docs: VersionDocs,
  source: string | undefined,
): Folder | 'root' | undefined {
  if (source === undefined || !/^\.\.?(?:\/|$)/.test(source)) return undefined
  const path = URL.parse(source, `http://module/${docs.root.path}/`)
    ?.pathname.replace(/^\/+/, '')
    .replace(/\/+$/, '')
  if (path === '') return 'root'
  for (const tab of folderTabs) {
    const found = docs[tab].find((folder) => folder.path === path)
    if (found !== undefined) return { tab, name: folderName(found) }
  }
  return undefined
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

/** Required inputs, then the others; a group without inputs is left out. */
export const groupsOf = (
  inputs: readonly ModuleInput[],
): (readonly [words: string, group: readonly ModuleInput[]])[] =>
  [
    ['Required', inputs.filter(({ required }) => required)] as const,
    ['Optional', inputs.filter(({ required }) => !required)] as const,
  ].filter(([, group]) => group.length > 0)

type Value = NonNullable<ModuleInput['default']> | null

const word = /^[\p{L}_][\p{L}\p{N}_-]*$/u
/** Lists of simple values that are not longer stay in one line. */
const longestLine = 40

/** A default as people write it in a configuration. Text of several lines keeps them. */
export function defaultText(value: Value): string {
  if (typeof value !== 'string' || !value.includes('\n')) return valueText(value, '')
  return `<<-EOT\n${value.replace(/\n$/, '')}\nEOT`
}

function valueText(value: Value, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((item) => valueText(item, inner))
    const line = `[${items.join(', ')}]`
    if (line.length <= longestLine && !line.includes('\n')) return line
    return `[\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}]`
  }
  const lines = Object.entries(value).map(
    ([key, item]) =>
      `${inner}${word.test(key) ? key : JSON.stringify(key)} = ${valueText(item, inner)}\n`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`
}
