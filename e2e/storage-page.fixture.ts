import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { clis, Workspace } from '../hack/testbed/cli/cli.ts'
import { startUpstreams, type Upstreams } from '../hack/testbed/upstream/upstreams.ts'
import { environmentOf, folderOfProgram } from './documentation.fixture.ts'
import { typeServer } from './typed-server.fixture.ts'

/* The instructions of docs/storage.md, and folders in which they run. */

const repository = join(import.meta.dirname, '..')
export const page = readFileSync(join(repository, 'docs/storage.md'), 'utf8')
const run = promisify(execFile)

type Values = Readonly<Record<string, string>>

/** The text below a heading of any level, up to the next one. */
export function section(heading: string): string {
  const [, rest] = page.split(new RegExp(`\n#+ ${heading}\n`))
  if (rest === undefined) throw new Error(`docs/storage.md has no heading "${heading}"`)
  return rest.split(/\n#+ /, 1)[0] ?? ''
}

/** The variables in a section, with their values for this machine. */
export function variables(heading: string, values: Values): Values {
  const text = section(heading)
  for (const name of Object.keys(values)) expect(text).toContain(`\`${name}`)
  return values
}

/** A row of the first table: the fields of `storageConfig` with values for this machine, and the place of objects. */
export function rowOf(backend: string, values: Values) {
  const row = page.split('\n').find((line) => line.includes(`| \`${backend}: {`)) ?? ''
  const [, fields = '', place = ''] = /: \{([^}]*)\}` \| (.*) \|$/.exec(row) ?? []
  const named = fields.split(', ').map((field) => field.replace('?', ''))
  expect(named.toSorted()).toEqual(Object.keys(values).toSorted())
  const objectOf = (name: string, fileName: string): string => {
    const all: Values = { ...values, name, fileName }
    return place.replaceAll(/[`[\]]/g, '').replaceAll(/\{(\w+)\}/g, (_, field: string) => {
      const value = all[field]
      if (value === undefined) throw new Error(`${field} of "${place}" is not a field`)
      return value
    })
  }
  return { storageConfig: { [backend]: values }, objectOf }
}

/** A reader of the page, with test upstreams and the program on PATH. */
export class Reader {
  readonly #upstreams: Upstreams
  readonly #bin: string

  private constructor(upstreams: Upstreams, bin: string) {
    this.#upstreams = upstreams
    this.#bin = bin
  }

  static async start(): Promise<Reader> {
    const upstreams = await startUpstreams()
    upstreams.github.tag('acme/vpc', 'v1.0.0', { 'main.tf': 'locals {}\n' })
    await upstreams.provider('hashicorp/random', '3.6.0')
    return new Reader(upstreams, folderOfProgram())
  }

  async stop(): Promise<void> {
    await this.#upstreams[Symbol.asyncDispose]()
    rmSync(this.#bin, { recursive: true })
  }

  /** A folder whose Depot was synced into this storage by `depot sync`, until the end of the test. */
  async fill(storageConfig: object, env: Values): Promise<FilledFolder> {
    const dir = mkdtempSync(join(tmpdir(), 'depot-storage-page-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const path = `${this.#bin}:${process.env['PATH'] ?? ''}`
    const all = {
      ...environmentOf(this.#upstreams.flags),
      PATH: path,
      HOME: dir,
      TMPDIR: dir,
      ...env,
    }
    const folder = new FilledFolder(dir, all)
    await folder.fill(storageConfig)
    return folder
  }
}

class FilledFolder {
  readonly dir: string
  readonly #env: Values

  constructor(dir: string, env: Values) {
    this.dir = dir
    this.#env = env
  }

  async fill(storageConfig: object): Promise<void> {
    const depot = {
      apiVersion: 'depot.internal/v1alpha1',
      kind: 'Depot',
      metadata: { name: 'main', namespace: 'platform' },
      spec: {
        global: { storageConfig },
        moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme' }],
        providerConfigs: [{ name: 'random', operatingSystems: ['linux'] }],
      },
    }
    for (const name of ['registry', 'archives']) mkdirSync(join(this.dir, name))
    writeFileSync(join(this.dir, 'registry/depot.yaml'), stringify(depot))
    const printed = await this.#type('depot sync --manifests registry --archives archives')
    if (!/^2 of 2 versions are stored$/m.test(printed)) throw new Error(printed)
    await this.#type('depot keygen --out signing-key.asc')
  }

  /** Names of the stored archives, by their module or provider. */
  fileNames(): readonly (readonly ['vpc' | 'random', string])[] {
    const statuses = join(this.dir, 'registry/versions/platform')
    return readdirSync(statuses).map((file) => {
      const { spec, status } = parse(readFileSync(join(statuses, file), 'utf8')) as {
        spec: { type: string }
        status: { artifact: { fileName: string } }
      }
      return [spec.type === 'Module' ? 'vpc' : 'random', status.artifact.fileName] as const
    })
  }

  /** @returns its URL */
  serve(flags = ''): Promise<string> {
    const line = `depot server --manifests registry --gpg-private-key-path signing-key.asc --anonymous-auth ${flags}`
    return typeServer(line, { cwd: this.dir, env: this.#env })
  }

  async #type(line: string): Promise<string> {
    return (await run('sh', ['-ec', line], { cwd: this.dir, env: this.#env })).stdout
  }
}

/** Installs the module with both CLIs, and downloads the provider. */
export async function install(url: string): Promise<void> {
  for (const { path } of clis.filter((cli) => cli.path !== undefined)) {
    const configuration = 'module "vpc" {\n  source = "depot.test/platform/vpc/aws"\n}\n'
    const workspace = new Workspace(path, url, configuration)
    await workspace.must('init')
    expect(workspace.modules()['vpc']?.version).toBe('1.0.0')
  }
  expect((await archiveOf(url)).status).toBe(200)
}

/** The archive of the provider, as a CLI requests it. */
export async function archiveOf(url: string, options: RequestInit = {}): Promise<Response> {
  const path = '/depot/providers/v1/platform/random/3.6.0/download/linux/amd64'
  const { download_url } = (await (await fetch(url + path)).json()) as { download_url: string }
  return fetch(new URL(download_url, url), options)
}
