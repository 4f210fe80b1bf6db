import { createReadStream } from 'node:fs'
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join, normalize, resolve } from 'node:path'
import * as z from 'zod'
import type { DocsProblem } from '../../api/docs/docs.ts'
import { codeOf, messageOf } from '../../base/errors/errors.ts'
import {
  blocksOf,
  HclError,
  headerOrder,
  type ParseHcl,
  textOrNothing,
  withHclParser,
} from './blocks.ts'
import { listsOf, type ParsedSource } from './folder-docs.ts'
import { maxFiles, parseFolder } from './read-docs.ts'

/** A module call or a required provider of a configuration. */
export interface Use {
  readonly kind: 'module' | 'provider'
  /** `module.net.subnets`, or the local name of a provider. */
  readonly name: string
  /** As it is written. In the lock file, a provider also has its host. */
  readonly source: string
  readonly constraint: string | undefined
  /** The version that `init` installed or locked. */
  readonly installed: string | undefined
  readonly file: string
  readonly line: number | undefined
}

interface Uses {
  readonly uses: readonly Use[]
  readonly problems: readonly DocsProblem[]
  /** Whether there is any file of a configuration. */
  readonly isConfiguration: boolean
}

const parserCpuMs = 30_000
const maxFolders = 200
/** A lock file, or the list of installed modules. */
const maxStateBytes = 16 * 2 ** 20
const lockFile = '.terraform.lock.hcl'

/**
 * Reads what a working directory uses: module calls, even of local modules, and providers of the lock file or, without one,
 * of `required_providers`. Nothing is evaluated.
 */
export const readUses = (dir: string): Promise<Uses> =>
  withHclParser(parserCpuMs, (parse) => new UsesReader(parse).read(dir))

/** A folder of a configuration. */
interface Folder {
  readonly path: string
  /** Names of the calls that lead to it, separated by dots; empty for the root. */
  readonly key: string
}

class UsesReader {
  readonly #parse: ParseHcl
  readonly #problems: DocsProblem[] = []
  readonly #uses: Use[] = []
  /** The uses that are providers. */
  readonly #providers = new Set<string>()
  #installed: ReadonlyMap<string, string> = new Map()
  #filesLeft = maxFiles
  #isConfiguration = false

  constructor(parse: ParseHcl) {
    this.#parse = parse
  }

  async read(dir: string): Promise<Uses> {
    this.#installed = await installedModules(dir, this.#problems)
    for (const use of await lockedProviders(dir, this.#parse, this.#problems)) {
      this.#uses.push(use)
      this.#providers.add(bareProvider(use.source))
    }
    const folders: Folder[] = [{ path: normalize(dir), key: '' }]
    const seen = new Set<string>()
    for (const folder of folders) {
      const { path } = folder
      // Links can lead to the same folder repeatedly.
      const real = await realpath(path).catch(() => resolve(path))
      if (seen.has(real)) continue
      if (seen.size === maxFolders) {
        this.#problems.push({
          message: `${path} and what follows is not read: there are more than ${maxFolders} local modules`,
        })
        break
      }
      seen.add(real)
      folders.push(...(await this.#readFolder(folder)))
    }
    return { uses: this.#uses, problems: this.#problems, isConfiguration: this.#isConfiguration }
  }

  /** @returns the folders of the local modules that it calls */
  async #readFolder(folder: Folder): Promise<Folder[]> {
    const { path } = folder
    const files = await filesIn(path).catch((error: unknown) => {
      // Only the root must exist. A call of a missing folder is a mistake of the configuration.
      if (folder.key === '') throw error
      this.#problems.push({ message: messageOf(error) })
      return []
    })
    const { sources, problems } = await parseFolder(files, {
      read: ({ path: at }) => createReadStream(at),
      parse: this.#parse,
      filesLeft: this.#filesLeft,
    })
    this.#filesLeft -= sources.length + problems.length
    this.#isConfiguration ||= sources.length + problems.length > 0
    const { modules, providers } = listsOf(sources, (message) =>
      this.#problems.push({ message: `${path}: ${message}` }),
    )
    this.#problems.push(...problems)
    const called = this.#addModules(modules, sources, folder)
    for (const { name, source = `hashicorp/${name}`, version: constraint } of providers) {
      if (this.#providers.has(bareProvider(source))) continue
      this.#providers.add(bareProvider(source))
      const place = placeOf(sources, '', name, path)
      this.#uses.push({
        kind: 'provider',
        name,
        source,
        constraint,
        installed: undefined,
        ...place,
      })
    }
    return called
  }

  /** @returns the folders of local modules */
  #addModules(
    modules: ReturnType<typeof listsOf>['modules'],
    sources: readonly ParsedSource[],
    { path, key }: Folder,
  ): Folder[] {
    const called: Folder[] = []
    for (const { name, source = '', version: constraint } of modules) {
      const at = key === '' ? name : `${key}.${name}`
      if (/^\.\.?\//.test(source)) {
        called.push({ path: join(path, source), key: at })
        continue
      }
      const installed = this.#installed.get(at)
      const place = placeOf(sources, 'module', name, path)
      const use = { kind: 'module', name: `module.${at}`, source, constraint, installed } as const
      this.#uses.push({ ...use, ...place })
    }
    return called
  }
}

async function filesIn(folder: string) {
  const names = await readdir(folder)
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      // Follows links, as the CLIs do.
      const found = await stat(path).catch(() => undefined)
      return found?.isFile() ? [{ name, path, sizeBytes: found.size }] : []
    }),
  )
  return files.flat()
}

/** File and line of a block or argument. */
function placeOf(sources: readonly ParsedSource[], type: string, name: string, folder: string) {
  const quoted = RegExp.escape(name)
  const header =
    type === '' ? `^[ \\t]*"?${quoted}"?\\s*[=:]` : `^[ \\t]*${type}\\s+"?${quoted}"?\\s*\\{`
  for (const { path: file, text } of sources) {
    const found = text === undefined ? -1 : text.search(new RegExp(header, 'm'))
    if (found >= 0) return { file, line: text?.slice(0, found).split('\n').length }
  }
  const json = sources.find(({ text }) => text === undefined) ?? sources[0]
  return { file: json?.path ?? folder, line: undefined }
}

/** The public registries of both CLIs have the same providers. */
const bareProvider = (source: string): string =>
  source.toLowerCase().replace(/^registry\.(terraform\.io|opentofu\.org)\//, '')

const Manifest = z.object({
  Modules: z.array(z.object({ Key: z.string(), Version: z.string().optional() })),
})

/** Versions of modules by their key, as `init` records them. */
async function installedModules(dir: string, problems: DocsProblem[]) {
  const file = join(dir, '.terraform/modules/modules.json')
  const text = await stateText(file, problems)
  if (text === undefined) return new Map<string, string>()
  try {
    const { Modules } = Manifest.parse(JSON.parse(text))
    return new Map(Modules.flatMap(({ Key, Version }) => (Version ? [[Key, Version]] : [])))
  } catch {
    problems.push({ file, message: 'it is not what init writes: run init again' })
    return new Map<string, string>()
  }
}

async function lockedProviders(
  dir: string,
  parse: ParseHcl,
  problems: DocsProblem[],
): Promise<Use[]> {
  const file = join(dir, lockFile)
  const text = await stateText(file, problems)
  if (text === undefined) return []
  try {
    const parsed = await parse(lockFile, text)
    const source = { path: file, parsed, text, isOverride: false }
    return blocksOf(parsed, 'provider', headerOrder(text)).map(
      ({ labels: [address = ''], body }) => ({
        kind: 'provider',
        name: address.split('/').at(-1) ?? '',
        source: address,
        constraint: textOrNothing(body['constraints']),
        installed: textOrNothing(body['version']),
        ...placeOf([source], 'provider', address, dir),
      }),
    )
  } catch (error) {
    if (!(error instanceof HclError)) throw error
    problems.push({
      file,
      message: `${messageOf(error)}: run init again`,
      ...(error.line && { line: error.line }),
    })
    return []
  }
}

/** Reads a text that init wrote; undefined if it is missing or cannot be read. */
async function stateText(file: string, problems: DocsProblem[]): Promise<string | undefined> {
  try {
    const found = await stat(file)
    if (found.isFile() && found.size <= maxStateBytes) return await readFile(file, 'utf8')
    const message = `it is not a file of at most ${maxStateBytes / 2 ** 20} MiB: run init again`
    problems.push({ file, message })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') {
      problems.push({ file, message: messageOf(error) })
    }
  }
  return undefined
}
