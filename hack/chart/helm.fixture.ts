import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

const root = join(import.meta.dirname, '../..')
export const chart = join(root, 'config/chart')

/** Both that are in use. */
export const helms = ['helm', 'helm3'] as const
export type Helm = (typeof helms)[number]

const paths = new Map<string, string>()

/** Path of a tool, which is built where it is missing. */
export function tool(name: string): string {
  const known = paths.get(name)
  if (known !== undefined) return known
  const path = execFileSync(join(root, 'hack/tool'), [name], { encoding: 'utf8' }).trim()
  paths.set(name, path)
  return path
}

export type Values = Readonly<Record<string, unknown>>

/** A rendered object; tests look into it as they know it. */
// biome-ignore lint: objects of any kind
export type Rendered = Readonly<Record<string, any>> & {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

interface Options {
  readonly helm?: Helm
  readonly release?: string
  /** Another folder than the chart's own. */
  readonly from?: string
}

function template(values: Values, { helm = 'helm', release = 'depot', from = chart }: Options) {
  const folder = mkdtempSync(join(tmpdir(), 'depot-values-'))
  try {
    const file = join(folder, 'values.json')
    writeFileSync(file, JSON.stringify(values))
    const flags = ['--namespace', 'depot-system', '--kube-version', '1.33.0', '--values', file]
    return spawnSync(tool(helm), ['template', release, from, ...flags], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The text of all objects. @throws Error with Helm's message */
export function renderText(values: Values = {}, options: Options = {}): string {
  const { status, stdout, stderr } = template(values, options)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

export function render(values: Values = {}, options: Options = {}): Rendered[] {
  return objectsOf(renderText(values, options))
}

export function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document): Rendered | null => {
      const [error] = document.errors
      if (error !== undefined) throw error
      return document.toJS()
    })
    .filter((object) => object !== null)
}

/** The lines `V01 ...` of a render that is refused. */
export function mistakes(values: Values, options: Options = {}): string[] {
  const { status, stderr } = template(values, options)
  if (status === 0) return []
  const found = stderr.split('\n').filter((line) => /^V\d\d /.test(line))
  if (found.length === 0) throw new Error(stderr)
  return found
}

/** What Helm says after an install. It is asked for as an object, because only a cluster would let Helm print it. */
export function notes(values: Values): string {
  const folder = mkdtempSync(join(tmpdir(), 'depot-chart-'))
  try {
    cpSync(chart, folder, { recursive: true })
    writeFileSync(
      join(folder, 'templates/notes-object.yaml'),
      'kind: Notes\nmetadata: {name: notes}\ntext: {{ include (print $.Template.BasePath "/NOTES.txt") . | toJson }}\n',
    )
    return render(values, { from: folder }).find(({ kind }) => kind === 'Notes')?.['text']
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name} was rendered`)
  return found
}
