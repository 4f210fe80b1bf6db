/** The documentation of versions, which storage has next to their archives. */

import type { ModuleDocs, ProviderPage, StoredPages } from '../../api/docs/docs.ts'
import {
  docsOfText,
  maxDocsBytes,
  maxPagesBytes,
  unpackDocsText,
  unpackPage,
  unpackPages,
} from '../../archives/docs/docs.ts'
import { chunksOf } from '../../archives/spool/spool.ts'
import type { Archive, Archives } from '../../archives/storage/storage.ts'
import { hasReason, notFound, RegistryError } from '../../base/errors/errors.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import { Slots } from '../../base/pacing/pacing.ts'
import type { Parent } from '../catalog/catalog.ts'

/** The part of the storage that documentation is read from: under the same rules as archives. */
export type DocsStorage = Pick<Archives, 'inMemory' | 'open'>

/**
 * Reads the documentation of a module version. It stays in memory if it is small.
 *
 * @throws RegistryError NotFound if there is none, BadGateway if storage has something else, or what storage throws
 */
export function docsOfVersion(
  module: Parent,
  version: string,
  storage: DocsStorage,
): Promise<ModuleDocs> {
  return unpacked(module, version, storage, async (bytes, sha256) => {
    const docs = docsOfText(await unpackDocsText(bytes))
    validDigests.set(sha256, true)
    return docs
  })
}

/** The same as JSON. A large one takes long to read, so that is done once. @throws RegistryError as `docsOfVersion` */
export function docsTextOfVersion(
  module: Parent,
  version: string,
  storage: DocsStorage,
): Promise<string> {
  return unpacked(module, version, storage, async (bytes, sha256) => {
    const text = await unpackDocsText(bytes)
    if (!validDigests.has(sha256)) docsOfText(text)
    validDigests.set(sha256, true)
    return text
  })
}

/** Digests of documentation that was found to be valid. */
const validDigests = new CappedMap<string, true>(10_000)

/** The list of a provider version's pages. @throws RegistryError as `docsOfVersion` */
export function pagesOfVersion(
  provider: Parent,
  version: string,
  storage: DocsStorage,
): Promise<StoredPages> {
  return unpacked(provider, version, storage, unpackPages)
}

/** A page of a provider version; undefined if there is no such page. @throws RegistryError as `docsOfVersion` */
export function pageOfVersion(
  provider: Parent,
  version: string,
  { category, slug }: Pick<ProviderPage, 'category' | 'slug'>,
  storage: DocsStorage,
): Promise<(ProviderPage & { readonly markdown: string }) | undefined> {
  return unpacked(provider, version, storage, async (bytes) => {
    const { pages } = await unpackPages(bytes)
    const found = pages.find(({ page }) => page.category === category && page.slug === slug)
    return found && { ...found.page, markdown: await unpackPage(bytes, found) }
  })
}

async function unpacked<T>(
  parent: Parent,
  version: string,
  storage: DocsStorage,
  unpack: (bytes: Uint8Array, sha256: string) => Promise<T>,
): Promise<T> {
  const { kind, namespace, name } = parent
  const docs = parent.rowsOf(version).find((row) => row.docs !== undefined)?.docs
  if (docs === undefined) throw noDocs(parent, version)
  const label = { namespace, kind, name, version }
  return fewAtOnce.run(async () => {
    const bytes = await bytesOf({ ...docs, label, isKept: true }, storage)
    return unpack(bytes, docs.sha256).catch((cause: unknown) => {
      throw unusable(docs.location.fileName, 'is not valid', cause)
    })
  })
}

function noDocs({ kind, namespace, name }: Parent, version: string): RegistryError {
  return kind === 'Module'
    ? notFound(
        `version ${version} of module ${namespace}/${name} has no documentation yet: the controller, depot sync and depot import make it when they store or check its archive`,
      )
    : notFound(
        `version ${version} of provider ${namespace}/${name} has no documentation: docs/publish.md says how to give a provider documentation`,
      )
}

/** Text of pages may not become smaller when it is packed. */
const maxPackedBytes = maxDocsBytes + maxPagesBytes

/** Documentation is unpacked in memory, so many callers of a large one must not unpack it at once. */
const fewAtOnce = new Slots({
  max: 8,
  maxWaiting: 1_000,
  busy: 'too many requests wait for documentation',
})

async function bytesOf(archive: Archive, storage: DocsStorage): Promise<Uint8Array> {
  const known = storage.inMemory(archive.sha256)
  if (known !== undefined) return known
  const { fileName } = archive.location
  const { sizeBytes, body } = await storage.open(archive).catch((error: unknown) => {
    if (!hasReason(error, 'NotFound')) throw error
    throw notFound(
      `the documentation ${fileName} is not in storage: depot sync and the controller make it again when they check the archive`,
      error,
    )
  })
  if (sizeBytes > maxPackedBytes) {
    body.close()
    throw unusable(fileName, `has ${sizeBytes} bytes`)
  }
  // A source reads into the same memory again.
  return Buffer.concat(await Array.fromAsync(chunksOf(body), (chunk) => new Uint8Array(chunk)))
}

const unusable = (fileName: string, problem: string, cause?: unknown): RegistryError =>
  new RegistryError(
    'BadGateway',
    `the documentation ${problem}: have ${fileName} deleted from storage, and depot sync or the controller makes it again`,
    { cause },
  )
