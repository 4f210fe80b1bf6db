import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { lessGarbage } from '../testbed/less-garbage.ts'

const root = join(import.meta.dirname, '../..')
export const chart = join(root, 'config/chart')

/** Both major versions. */
export const helms = ['helm', 'helm3'] as const
export type Helm = (typeof helms)[number]

const paths = new Map<string, string>()

/** Path of a tool, which is built if it is missing. */
export function tool(name: string): string {
  const known = paths.get(name)
  if (known !== undefined) return known
  const path = execFileSync(join(root, 'hack/tool'), [name], { encoding: 'utf8' }).trim()
  paths.set(name, path)
  return path
}

export type Values = Readonly<Record<string, unknown>>

export interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly volumeMounts?: readonly { readonly name: string }[]
  readonly lifecycle?: object
  readonly securityContext: object
}

export interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly securityContext: object
  readonly terminationGracePeriodSeconds: number
  readonly containers: readonly Container[]
  readonly volumes?: readonly { readonly name: string }[]
}

interface PathMatch {
  readonly uri: { readonly exact?: string; readonly prefix?: string }
}

/** A rendered object, with the fields that tests read. */
export interface Rendered {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly {
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
  readonly stringData?: Readonly<Record<string, string>>
  readonly data?: Readonly<Record<string, string>>
  readonly text?: string
  readonly spec?: Partial<PodSpec> & {
    readonly template?: { readonly spec: PodSpec }
    readonly jobTemplate?: { readonly spec: { readonly template: { readonly spec: PodSpec } } }
    readonly groups?: readonly object[]
    /** The rules of an Ingress or an HTTPRoute. */
    readonly rules?: readonly {
      readonly http?: {
        readonly paths: readonly {
          readonly path: string
          readonly pathType: string
          readonly backend: { readonly service: { readonly name: string } }
        }[]
      }
      readonly matches?: readonly { readonly path: { readonly value: string } }[]
      readonly backendRefs?: readonly { readonly name: string }[]
    }[]
    /** The routes of a VirtualService. */
    readonly http?: readonly {
      readonly match?: readonly PathMatch[]
      readonly route: readonly { readonly destination: { readonly host: string } }[]
    }[]
  }
}

/** The pods of all objects, with the name of their workload. */
export function podsOf(objects: readonly Rendered[]): { name: string; spec: PodSpec }[] {
  return objects.flatMap(({ metadata: { name }, spec }) => {
    const pod = (spec?.template ?? spec?.jobTemplate?.spec.template)?.spec
    if (pod?.containers !== undefined) return [{ name, spec: pod }]
    const { containers, securityContext, automountServiceAccountToken } = spec ?? {}
    if (containers === undefined || securityContext === undefined) return []
    const rest = { automountServiceAccountToken: automountServiceAccountToken ?? true }
    return [
      {
        name,
        spec: { terminationGracePeriodSeconds: 30, ...spec, ...rest, containers, securityContext },
      },
    ]
  })
}

interface Options {
  readonly helm?: Helm
  readonly release?: string
  /** Another folder than the chart's own. */
  readonly from?: string
  /** Runs Helm even if it has already rendered the same. */
  readonly again?: boolean
}

interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Results of this chart, by their inputs. Test files share them. */
function outcomes(): string {
  const all = join(root, '.depot/helm')
  const current = digestOf(chart)
  mkdirSync(join(all, current), { recursive: true })
  for (const old of readdirSync(all).filter((name) => name !== current))
    rmSync(join(all, old), { recursive: true, force: true })
  return join(all, current)
}

/** Renders the chart with some values, or takes the result from the cache. */
function template(values: Values, options: Options): Outcome {
  const { helm = 'helm', release = 'depot', from = chart, again = false } = options
  const input = JSON.stringify(values)
  const program = tool(helm)
  const key = createHash('sha256').update(
    [program, statSync(program).mtimeMs, release, digestOf(from), input].join('\n'),
  )
  const file = join(outcomes(), `${key.digest('hex')}.json`)
  if (!again && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  const outcome = runHelm(input, { helm, release, from })
  // A killed Helm says nothing about the chart.
  if (outcome.status === null) return outcome
  // Written and renamed, because another worker may read it at this moment.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(outcome))
  renameSync(`${file}.${process.pid}`, file)
  return outcome
}

function runHelm(values: string, options: Required<Omit<Options, 'again'>>): Outcome {
  const flags = ['--namespace', 'depot-system', '--kube-version', '1.33.0', '--values', '-']
  const { status, stdout, stderr } = spawnSync(
    tool(options.helm),
    ['template', options.release, options.from, ...flags],
    {
      encoding: 'utf8',
      input: values,
      maxBuffer: 2 ** 26,
      env: { ...process.env, ...lessGarbage },
    },
  )
  return { status, stdout, stderr }
}

const digests = new Map<string, string>()

/** A digest of all files of a chart. */
function digestOf(folder: string): string {
  const known = digests.get(folder)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  for (const path of globSync('**/*', { cwd: folder }).toSorted()) {
    const file = join(folder, path)
    if (statSync(file).isFile()) hash.update(`${path}\0`).update(readFileSync(file))
  }
  const digest = hash.digest('hex')
  digests.set(folder, digest)
  return digest
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
  return parseAllDocuments(text, { version: '1.1' })
    .map((document): Rendered | null => {
      const [error] = document.errors
      if (error !== undefined) throw error
      return document.toJS()
    })
    .filter((object) => object !== null)
}

/** The lines `V01 ...` of a refused render, without the definitions, which are most of the text. */
export function mistakes(values: Values, options: Options = {}): string[] {
  const { status, stderr } = template({ crds: { install: false }, ...values }, options)
  if (status === 0) return []
  const found = stderr.split('\n').filter((line) => /^V\d\d /.test(line))
  if (found.length === 0) throw new Error(stderr)
  return found
}

/**
 * The notes that Helm prints after an install. They are rendered as an object, because Helm only prints them for a cluster.
 */
export function notes(values: Values): string {
  const folder = mkdtempSync(join(tmpdir(), 'depot-chart-'))
  try {
    cpSync(chart, folder, { recursive: true })
    writeFileSync(
      join(folder, 'templates/notes-object.yaml'),
      'kind: Notes\nmetadata: {name: notes}\ntext: {{ include (print $.Template.BasePath "/NOTES.txt") . | toJson }}\n',
    )
    return find(render(values, { from: folder }), 'Notes', 'notes').text ?? ''
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export function find(objects: readonly Rendered[], kind: string, name: string): Rendered {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name} was rendered`)
  return found
}
