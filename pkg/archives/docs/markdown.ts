import { oneLine } from '../../api/changes/changes.ts'
import type { DocsProblem, FolderDocs, InputDocs, ModuleDocs } from '../../api/docs/docs.ts'

const begin = '<!-- BEGIN_TF_DOCS -->'
const end = '<!-- END_TF_DOCS -->'

/**
 * Puts documentation between the markers of a README, as terraform-docs does.
 *
 * @returns undefined if the README lacks a marker, or has them in the wrong order
 */
export function injectDocs(readme: string, docs: ModuleDocs): string | undefined {
  const from = readme.indexOf(begin)
  const to = readme.indexOf(end, from)
  if (from === -1 || to === -1) return undefined
  return `${readme.slice(0, from + begin.length)}\n${docsMarkdown(docs)}${readme.slice(to)}`
}

/** The tables of the root, with the columns and anchors of terraform-docs. */
export function docsMarkdown({ root }: ModuleDocs): string {
  const { requiredVersion, providers, modules, inputs, outputs } = root
  const requirements = [
    ...(requiredVersion === undefined ? [] : [['terraform', requiredVersion] as const]),
    ...providers.map(({ name, version = 'n/a' }) => [name, version] as const),
  ]
  const sections = [
    table(
      'Requirements',
      ['Name', 'Version'],
      requirements.map(([name, version]) => [anchored('requirement', name), cell(version)]),
    ),
    table(
      'Modules',
      ['Name', 'Source', 'Version'],
      modules.map(({ name, source, version }) => [
        anchored('module', name),
        cell(source ?? 'n/a'),
        cell(version ?? 'n/a'),
      ]),
    ),
    table('Resources', ['Name', 'Type'], resourceRows(root)),
    table('Inputs', ['Name', 'Description', 'Type', 'Default', 'Required'], inputs.map(inputRow)),
    table(
      'Outputs',
      ['Name', 'Description'],
      outputs.map(({ name, description }) => [
        anchored('output', name),
        prose(description ?? 'n/a'),
      ]),
    ),
  ]
  const { error } = root
  const warning = error && `> Incomplete: ${cell(problemText(error))}\n`
  return [...(warning === undefined ? [] : [warning]), ...sections].join('\n')
}

function table(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return `## ${title}\n\nNo ${title.toLowerCase()}.\n`
  const lines = [columns, columns.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
  return `## ${title}\n\n${lines.join('\n')}\n`
}

const resourceRows = ({ resources }: FolderDocs) =>
  resources.map(({ mode, type, name }) => [
    cell(`${type}.${name}`),
    { managed: 'resource', data: 'data source', ephemeral: 'ephemeral resource' }[mode],
  ])

const inputRow = ({ name, description, type = 'any', default: value, required }: InputDocs) => [
  anchored('input', name),
  prose(description ?? 'n/a'),
  code(type),
  required ? 'n/a' : code(JSON.stringify(value ?? null, null, 2)),
  required ? 'yes' : 'no',
]

const anchored = (kind: string, name: string): string =>
  `<a name="${kind}_${attribute(name)}"></a> [${cell(name)}](#${kind}\\_${cell(attribute(name))})`

const attribute = (text: string): string => text.replaceAll(/[^\w-]/g, '')

/** Escapes a text of the module for a cell, so that it contains no markup and cannot end the cell. */
const cell = (text: string): string =>
  withoutControls(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\|_*`[\]]/g, String.raw`\$&`)
    .replaceAll(/\r?\n/g, '<br/>')

/** Escapes a text, but keeps words in backticks as code. */
const prose = (text: string): string =>
  text
    .trim()
    .split(/(?<!`)(`[^`\r\n]+`)(?!`)/)
    .map((part, at) => (at % 2 === 0 || /[<&]/.test(part) ? cell(part) : code(part.slice(1, -1))))
    .join('')

/** Formats code and keeps its lines. A code span cannot hide the `<` of a marker from programs that search for markers. */
function code(text: string): string {
  const clean = withoutControls(text)
  if (!/[\n`<]/.test(clean)) return `\`${clean.replaceAll('|', String.raw`\|`)}\``
  const escaped = clean.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '&#124;')
  return `<pre>${escaped.replaceAll(/\r?\n/g, '<br/>')}</pre>`
}

/** Control and invisible characters, such as escapes for terminals and marks that reverse text. */
const withoutControls = (text: string): string =>
  text.toWellFormed().replaceAll(/[^\P{C}\r\n\t]|[\p{Zl}\p{Zp}]/gu, '\ufffd')

/** Lists problems in the files of a module, of its root, submodules and examples. */
export const docsProblems = ({ root, submodules, examples }: ModuleDocs): DocsProblem[] =>
  [root, ...submodules, ...examples].flatMap(({ path, error }) =>
    error === undefined ? [] : [{ ...error, file: error.file ?? (path || 'the root module') }],
  )

/** Formats a problem with its place in one line, such as `main.tf:2: Invalid expression`. */
export const problemText = ({ message, file, line }: DocsProblem): string => {
  const place = [file, line].filter((part) => part !== undefined).join(':')
  return oneLine(place === '' ? message : `${place}: ${message}`)
}

/**
 * Makes a result safe for a terminal: escapes controls, and marks that hide or reverse text, as JSON would. JSON itself does
 * not escape all of them.
 */
export const plainText = (text: string): string =>
  text.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      escaped(character.charCodeAt(index)),
    ).join(''),
  )

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
