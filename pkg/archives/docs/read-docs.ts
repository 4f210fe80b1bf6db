import type { DocsProblem, FolderDocs, ModuleDocs } from '../../api/docs/docs.ts'
import { readmeOf } from '../archive/archive.ts'
import { configurationFiles } from './configuration-files.ts'
import { firstParagraph } from './description.ts'
import { listsOf, type ParsedSource } from './folder-docs.ts'
import { HclError, type ParseHcl, withHclParser } from './hcl-parser.ts'

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
