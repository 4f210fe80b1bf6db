/** Reads the documentation of a module from its files, and packs it as it is stored. */

import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import {
  type DocsProblem,
  emptyRoot,
  type FolderDocs,
  ModuleDocs,
  type OmissiblePart,
  omissibleParts,
} from '../../api/docs/docs.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { ArchiveError, defaultLimits, readmeOf, withModuleFiles } from '../archive/archive.ts'
import { HclError, type ParseHcl, withHclParser } from './blocks.ts'
import { listsOf, type ParsedSource } from './folder-docs.ts'

/** A file of a module. */
export interface DocsFile {
  /** Path below the root of the module, with forward slashes. */
  readonly path: string
  readonly sizeBytes: number
}

const parserCpuMs = 5_000
const maxFileBytes = 1024 * 1024
export const maxFiles = 500
const maxFolders = 50
const readmeBytes = 256 * 1024

/**
 * Reads the documentation of a module. It never fails because of the files: a folder with a mistake has an `error`.
 *
 * @param files all files of the module
 * @param read returns the bytes of a file, or only the first ones if `sizeBytes` is smaller than the file
 */
export const readModuleDocs = <File extends DocsFile>(
  files: readonly File[],
  read: (file: File) => AsyncIterable<Uint8Array>,
): Promise<ModuleDocs> =>
  withHclParser(parserCpuMs, async (parse) => {
    let filesLeft = maxFiles
    const docsOf = async (path: string): Promise<FolderDocs> => {
      const prefix = path === '' ? '' : `${path}/`
      const own = files
        .filter(
          (file) => file.path.startsWith(prefix) && !file.path.slice(prefix.length).includes('/'),
        )
        .map((file) => ({ ...file, name: file.path.slice(prefix.length) }))
      const readme = await readmeOf(own, read, readmeBytes)
      const description = readme && firstParagraph(readme.text)
      const { sources, problems } = await parseFolder(own, { read, parse, filesLeft })
      filesLeft -= sources.length + problems.length
      const lists = listsOf(sources, (message) => problems.push({ message }))
      const [error] = problems
      return {
        path,
        ...(readme && { readme: readme.text }),
        ...(description !== undefined && { description }),
        ...lists,
        ...(error && { error }),
      }
    }
    const each = async (parent: string): Promise<FolderDocs[]> => {
      const docs: FolderDocs[] = []
      for (const path of foldersIn(files, parent)) docs.push(await docsOf(path))
      return docs
    }
    const root = await docsOf('')
    return { schema: 1, root, submodules: await each('modules'), examples: await each('examples') }
  })

/** The folders of `modules` or `examples` that have configuration, by name. */
function foldersIn(files: readonly DocsFile[], parent: string): string[] {
  const names = new Map<string, string[]>()
  for (const { path } of files) {
    const [first, folder = '', file, ...deeper] = path.split('/')
    if (first !== parent || file === undefined || deeper.length > 0) continue
    names.set(folder, [...(names.get(folder) ?? []), file])
  }
  return [...names]
    .filter(([, inside]) => configurationFiles(inside).length > 0)
    .map(([folder]) => `${parent}/${folder}`)
    .toSorted()
    .slice(0, maxFolders)
}

interface Parsing<File> {
  readonly read: (file: File) => AsyncIterable<Uint8Array>
  readonly parse: ParseHcl
  readonly filesLeft: number
}

/** Parses the files of a folder. Those that cannot be parsed are problems. */
export async function parseFolder<File extends DocsFile & { readonly name: string }>(
  files: readonly File[],
  { read, parse, filesLeft }: Parsing<File>,
): Promise<{ sources: ParsedSource[]; problems: DocsProblem[] }> {
  const sources: ParsedSource[] = []
  const problems: DocsProblem[] = []
  const wanted = configurationFiles(files.map(({ name }) => name))
  for (const [index, { name, isJson, isOverride }] of wanted.entries()) {
    const file = files.find((each) => each.name === name)
    if (file === undefined) continue
    try {
      if (index >= filesLeft) throw new HclError(`only ${maxFiles} files of a module are read`)
      if (file.sizeBytes > maxFileBytes) throw new HclError('the file has more than 1 MiB')
      const text = Buffer.concat(await Array.fromAsync(read(file)))
        .toString()
        .replace(/^\ufeff/, '')
      const parsed = isJson ? parseJson(text) : await parse(name, text)
      sources.push({ path: file.path, parsed, text: isJson ? undefined : text, isOverride })
    } catch (error) {
      if (!(error instanceof HclError)) throw error
      const { message, line } = error
      problems.push({ message, file: file.path, ...(line !== undefined && { line }) })
    }
  }
  return { sources, problems }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HclError(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** How the CLIs read a file of a module's folder. */
interface ConfigurationFile {
  readonly name: string
  readonly isJson: boolean
  /** Whether its blocks change those of other files instead of adding to them. */
  readonly isOverride: boolean
}

/**
 * Selects the files that the CLIs read in a folder, in their order. OpenTofu reads `main.tofu` instead of a `main.tf` next to
 * it.
 *
 * @param names of all files in the folder
 */
function configurationFiles(names: readonly string[]): ConfigurationFile[] {
  const all = new Set(names)
  const files = names.flatMap((name) => {
    const [, base = '', language, json] = /^(.+)\.(tf|tofu)(\.json)?$/.exec(name) ?? []
    if (language === undefined || isIgnored(name)) return []
    if (language === 'tf' && all.has(`${base}.tofu${json ?? ''}`)) return []
    const isOverride = base === 'override' || base.endsWith('_override')
    return [{ name, isJson: json !== undefined, isOverride }]
  })
  return files.toSorted(
    (a, b) => Number(a.isOverride) - Number(b.isOverride) || (a.name < b.name ? -1 : 1),
  )
}

/** Hidden files, and copies that editors make. */
const isIgnored = (name: string): boolean =>
  name.startsWith('.') || name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'))

/** Headings, badges, images, HTML, rules and code, which do not describe the module in a sentence. */
const notProse = /^(?:#|<|!?\[!?\[|!\[|```|~~~|---|===|\*\*\*|\||>)/

/** More than a paragraph of 300 characters with all of its links. */
const longestRead = 4096

/** The first paragraph of a README as one line of text, of at most 300 characters. */
export function firstParagraph(markdown: string): string | undefined {
  const paragraphs = markdown.replaceAll(/<!--.*?(?:-->|$)/gs, '').split(/\r?\n[ \t]*\r?\n/)
  const prose = paragraphs
    .map((paragraph) => withoutHeading(paragraph.trim()))
    .find((paragraph) => paragraph !== '' && !notProse.test(paragraph))
  if (prose === undefined) return undefined
  const text = prose
    .slice(0, longestRead)
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replaceAll(/(\*\*|__|`)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])/g, '$2')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const characters = Array.from(text)
  return characters.length <= 300 ? text : `${characters.slice(0, 299).join('')}…`
}

/** A heading can be followed by its first paragraph without an empty line. */
function withoutHeading(paragraph: string): string {
  const [first = '', ...rest] = paragraph.split(/\r?\n/)
  const isUnderlined = /^(?:=+|-+)\s*$/.test(rest[0] ?? '')
  if (isUnderlined) return rest.slice(1).join('\n').trim()
  return first.startsWith('#') ? rest.join('\n').trim() : paragraph
}

/**
 * Reads the documentation of a module on the file system.
 *
 * @param path of a folder, or of an archive: zip, tar or tar.gz
 * @param within the folder of the module in the archive; default: the root
 * @throws ArchiveError, an error of the file system, or Error for a folder without configuration
 */
export async function openModuleDocs(path: string, within?: string): Promise<ModuleDocs> {
  if ((await stat(path)).isDirectory()) return docsOfFolder(path)
  const scratch = join(tmpdir(), `depot-docs-${crypto.randomUUID()}`)
  const reading = { file: path, path: within, limits: defaultLimits.module, scratch }
  return withModuleFiles(reading, ({ files, read }) => readModuleDocs(files, read))
}

/** Lists only folders with documentation, so that `.terraform` costs nothing. */
async function docsOfFolder(folder: string): Promise<ModuleDocs> {
  const parents = await Promise.all(['modules', 'examples'].map((name) => childrenOf(folder, name)))
  const paths = ['', ...parents.flat()]
  const files = await Promise.all(paths.map((path) => filesOf(folder, path)))
  // Otherwise, a wrong folder would look like a module without inputs and outputs.
  if (!files.some((group) => configurationFiles(group.map(({ name }) => name)).length > 0)) {
    throw new Error('it has no configuration: name the folder of a module')
  }
  return readModuleDocs(files.flat(), ({ path, sizeBytes }) =>
    createReadStream(join(folder, path), { end: Math.max(sizeBytes - 1, 0) }),
  )
}

async function childrenOf(folder: string, parent: string): Promise<string[]> {
  const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${parent}/${name}`)
}

async function filesOf(folder: string, path: string) {
  const names = await readdir(join(folder, path))
  const files = await Promise.all(
    names.map(async (name) => {
      const below = path === '' ? name : `${path}/${name}`
      const found = await lstat(join(folder, below))
      return found.isFile() ? [{ name, path: below, sizeBytes: found.size }] : []
    }),
  )
  return files.flat()
}

const gzip = promisify(zlib.gzip)
const gunzip = promisify(zlib.gunzip)

/** Limit for reading the documentation of one module, packed and as JSON. */
export const maxDocsBytes = 8 * 1024 * 1024
/** Limit for writing, so that a server reads it within some tens of milliseconds. */
const maxWrittenBytes = 2 * 1024 * 1024

/** Documentation as it is stored: compressed JSON. */
export interface PackedDocs {
  readonly bytes: Buffer
  /** In lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  /** The root of a module; undefined for a provider. */
  readonly root?: FolderDocs
}

/** Reads the documentation of a module for storage. Files are those of `readModuleDocs`. */
export async function packedDocs<File extends DocsFile>(
  files: readonly File[],
  read: (file: File) => AsyncIterable<Uint8Array>,
): Promise<PackedDocs> {
  return packed(await readModuleDocs(files, read))
}

/** Reads the documentation of a stored archive. If the archive is not a module, the documentation says so. */
export async function packedDocsOf(
  archive: Parameters<typeof withModuleFiles>[0],
): Promise<PackedDocs> {
  try {
    return await withModuleFiles(archive, ({ files, read }) => packedDocs(files, read))
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    return packed({ schema: 1, root: problem(messageOf(error)), submodules: [], examples: [] })
  }
}

/** @throws Error if it is not the documentation of a module */
export async function unpackDocs(bytes: Uint8Array): Promise<ModuleDocs> {
  return docsOfText(await unpackDocsText(bytes))
}

/** Unpacks the JSON of documentation. @throws Error if it cannot be unpacked, or is too large */
export async function unpackDocsText(bytes: Uint8Array): Promise<string> {
  const text = await gunzip(bytes, { maxOutputLength: maxDocsBytes })
  return text.toString()
}

/** @throws Error if it is not the JSON of the documentation of a module */
export const docsOfText = (text: string): ModuleDocs => ModuleDocs.parse(JSON.parse(text))

async function packed(docs: ModuleDocs): Promise<PackedDocs> {
  const bytes = await gzip(fittingText(docs))
  return { bytes, sha256: hash('sha256', bytes), sizeBytes: bytes.length, root: docs.root }
}

/** Leaves out what readers need least, until the rest fits. Names and types, which comparisons need, always stay. */
function fittingText(whole: ModuleDocs): string {
  let docs = whole
  let text = JSON.stringify(docs)
  const fits = () => Buffer.byteLength(text) <= maxWrittenBytes
  for (const part of omissibleParts) {
    if (fits()) break
    const less = without[part](docs)
    if (JSON.stringify(less).length === text.length) continue
    docs = { ...less, leftOut: [...(docs.leftOut ?? []), part] }
    text = JSON.stringify(docs)
  }
  if (fits()) return text
  const root = problem(
    `the documentation has more than ${maxWrittenBytes / 1024 / 1024} MiB even without READMEs, defaults and descriptions: shorten types and messages`,
  )
  return JSON.stringify({ schema: 1, root, submodules: [], examples: [] })
}

const withoutReadme = (folder: FolderDocs): FolderDocs => ({ ...folder, readme: undefined })

const everywhere = (docs: ModuleDocs, change: (folder: FolderDocs) => FolderDocs): ModuleDocs => ({
  ...docs,
  root: change(docs.root),
  submodules: docs.submodules.map(change),
  examples: docs.examples.map(change),
})

/** Leaves out each of these parts. */
const without: Readonly<Record<OmissiblePart, (docs: ModuleDocs) => ModuleDocs>> = {
  exampleReadmes: (docs) => ({ ...docs, examples: docs.examples.map(withoutReadme) }),
  submoduleReadmes: (docs) => ({ ...docs, submodules: docs.submodules.map(withoutReadme) }),
  defaults: (docs) =>
    everywhere(docs, (folder) => ({
      ...folder,
      inputs: folder.inputs.map((input) => ({ ...input, default: undefined })),
    })),
  readme: (docs) => ({ ...docs, root: withoutReadme(docs.root) }),
  descriptions: (docs) =>
    everywhere(docs, (folder) => ({
      ...folder,
      description: undefined,
      inputs: folder.inputs.map((input) => ({ ...input, description: undefined })),
      outputs: folder.outputs.map((output) => ({ ...output, description: undefined })),
    })),
}

/** A root that only has an error. */
const problem = (message: string): FolderDocs => ({ ...emptyRoot, error: { message } })
