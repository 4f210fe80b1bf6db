import type { searchFields } from '../../api/browse/browse.ts'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import type { Listed } from '../catalog/catalog.ts'
import { limitTerms } from './terms.ts'

/** The rank of a match in a field. Lower ranks come first. */
export const rankOfField: Readonly<Record<Field, number>> = {
  name: 2,
  namespace: 2,
  system: 2,
  resource: 3,
  provider: 3,
  input: 4,
  output: 4,
  submodule: 4,
  description: 5,
  heading: 6,
}

export type Field = (typeof searchFields)[number]

/** Texts of a module or provider, by field; a line for each name. */
export type Texts = Partial<Record<Field, string>>

const termsOfField = 64
const termsOfVersion = 400
/** Limit of a description. Names and headings are shorter. */
const longestLine = 400

export function namesOf({ summary }: Listed): Texts {
  const { namespace, name, address, resource } = summary
  const own = address.split('/')[0] ?? ''
  const names = own === name ? name : `${name}\n${own}`
  return { name: names, namespace, system: resource.system ?? '' }
}

/** Collects the texts of documentation, as far as the limits allow. */
export function textsOf({ root, submodules }: ModuleDocs): Texts {
  const folders = [root, ...submodules]
  const lines: Texts = {}
  let left = termsOfVersion
  const wanted: readonly (readonly [Field, readonly string[]])[] = [
    ['resource', folders.flatMap((folder) => folder.resources.map(({ type }) => type))],
    ['provider', folders.flatMap((folder) => folder.providers.map(({ name }) => name))],
    ['input', folders.flatMap((folder) => folder.inputs.map(({ name }) => name))],
    ['output', folders.flatMap((folder) => folder.outputs.map(({ name }) => name))],
    ['submodule', submodules.map(({ path }) => path.split('/').at(-1) ?? '')],
    ['description', [(root.description ?? '').replaceAll(/\s+/g, ' ')]],
    ['heading', headingsOf(root.readme ?? '')],
  ]
  for (const [field, all] of wanted) {
    const short = all.map((line) => line.slice(0, longestLine))
    const { text, count } = limitTerms([...new Set(short)], Math.min(termsOfField, left))
    lines[field] = text
    left -= count
  }
  return lines
}

/** Finds the headings of a README, except in blocks of code. */
function headingsOf(readme: string): string[] {
  const headings: string[] = []
  let isCode = false
  for (const whole of readme.split(/\r?\n/)) {
    const line = whole.slice(0, longestLine)
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    const heading = isCode ? undefined : /^ {0,3}#{1,6}[ \t]+(.+)$/.exec(line)?.[1]
    if (heading !== undefined) headings.push(heading.replace(/[ \t#]+$/, ''))
  }
  return headings
}
