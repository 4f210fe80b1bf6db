import type { ModuleInput, VersionDocs } from '../../api/records.ts'
import { number } from '../../parts/format.ts'
import {
  type DocsTab,
  type Folder,
  folderTabs,
  type InputGroup,
  type ModuleTab,
  type ResourceValues,
} from '../../url/pages.ts'

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

/** The documentation of one folder, instead of that of the root; undefined if the version has no such folder. */
export function docsOfFolder(docs: VersionDocs, { tab, name }: Folder): VersionDocs | undefined {
  const root = docs[tab].find((one) => folderName(one) === name)
  return root && { ...docs, root }
}

/** The name of a folder: `peering` of `modules/peering`. */
export const folderName = ({ path }: { readonly path: string }): string =>
  path.slice(path.indexOf('/') + 1)

/** File and line of a problem; empty if it has none. */
export const placeOf = ({ file, line }: NonNullable<VersionDocs['root']['error']>): string =>
  [file, line].filter((part) => part !== undefined).join(':')

/** Text for an empty list. A list may be empty only because a file cannot be parsed. */
export const noneOf = (words: string, { root }: VersionDocs): string =>
  root.error === undefined ? `No ${words}.` : `No ${words} could be read.`

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

/** Inputs that a caller may set without a warning, if their defaults are known, and those that a caller must set. */
export const settableInputs = (inputs: readonly ModuleInput[]): readonly ModuleInput[] =>
  listedInputs(inputs, { i_q: '', i_group: '' }).filter(
    (input) => input.required || (input.deprecated === undefined && input.default !== undefined),
  )

/** Inputs that a caller must set. */
export const requiredOf = (docs: VersionDocs | undefined): readonly ModuleInput[] =>
  docs?.root.inputs.filter(({ required }) => required) ?? []

/** Shorter lists have no filter. */
const longestUnfiltered = 10

export const hasFilter = (list: readonly unknown[]): boolean => list.length > longestUnfiltered

const isOfGroup: Readonly<Record<InputGroup, (input: ModuleInput) => boolean>> = {
  '': () => true,
  required: ({ required }) => required,
  optional: ({ required }) => !required,
  deprecated: ({ deprecated }) => deprecated !== undefined,
}

/** Groups of inputs that a filter offers, with their sizes. */
export const inputGroups = (
  inputs: readonly ModuleInput[],
): (readonly [group: InputGroup, words: string])[] =>
  (
    [
      ['', 'All'],
      ['required', 'Required'],
      ['optional', 'Optional'],
      ['deprecated', 'Deprecated'],
    ] as const
  ).flatMap(([group, words]) => {
    const { length } = inputs.filter(isOfGroup[group])
    return length === 0 ? [] : [[group, `${words} ${number(length)}`] as const]
  })

/** The items with a text that contains the filter. A short list has no filter. */
export function listedBy<T>(
  list: readonly T[],
  filter: string,
  textsOf: (item: T) => readonly (string | undefined)[],
): readonly T[] {
  if (!hasFilter(list)) return list
  const wanted = filter.toLowerCase()
  return list.filter((item) => textsOf(item).some((text) => text?.toLowerCase().includes(wanted)))
}

/** Required inputs first, only those of a group, with the text in their name, type or description. */
export function listedInputs(
  inputs: readonly ModuleInput[],
  { i_q: filter, i_group: group }: Pick<ResourceValues, 'i_q' | 'i_group'>,
): ModuleInput[] {
  const isListed = hasFilter(inputs) ? isOfGroup[group] : isOfGroup['']
  return listedBy(inputs, filter, ({ name, type, description }) => [name, type, description])
    .filter(isListed)
    .toSorted((a, b) => Number(b.required) - Number(a.required))
}

/** Required inputs, then the others. A group without inputs is omitted. */
export const groupsOf = (
  inputs: readonly ModuleInput[],
): (readonly [words: string, group: readonly ModuleInput[]])[] =>
  [
    ['Required', inputs.filter(({ required }) => required)] as const,
    ['Optional', inputs.filter(({ required }) => !required)] as const,
  ].filter(([, group]) => group.length > 0)
