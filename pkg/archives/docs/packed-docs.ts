import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import {
  emptyRoot,
  type FolderDocs,
  ModuleDocs,
  type OmissiblePart,
  omissibleParts,
} from '../../api/docs/docs.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { ArchiveError, withModuleFiles } from '../archive/archive.ts'
import { type DocsFile, readModuleDocs } from './read-docs.ts'

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
