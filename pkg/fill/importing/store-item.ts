import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ArchiveDocs,
  docsFileName,
  type StorageConfig,
  storedName,
} from '../../api/v1alpha1/v1alpha1.ts'
import {
  inspectProvider,
  type LimitsByKind,
  normaliseModule,
  type OpenModule,
} from '../../archives/archive/archive.ts'
import { type PackedDocs, PageCollector, packedDocs } from '../../archives/docs/docs.ts'
import type { ArchiveStore, LocalFile } from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { storeSmall } from '../sync/sync.ts'
import type { ImportedArchive, ImportItem } from './item.ts'
import type { Manifests, StoredItem } from './manifests.ts'

export interface StoreContext {
  readonly store: ArchiveStore
  readonly storage: StorageConfig
  readonly manifests: Manifests
  readonly format: 'zip' | 'tar.gz'
  readonly limits: LimitsByKind
  /** A folder for archives that are being processed. */
  readonly workDir: string
  readonly signal: AbortSignal
  readonly onEvent: (event: {
    readonly kind: 'skipped'
    readonly what: string
    readonly message: string
  }) => void
}

/** Whether an earlier import stored an item, and its archive is still in storage. */
export async function isStored(item: ImportItem, context: StoreContext): Promise<boolean> {
  const { store, storage, manifests, signal } = context
  const upload = await manifests.uploadOf(item)
  if (upload === undefined) return false
  const { driver, object } = store.for(storage, item.parent.name)
  return driver.verify(object(upload.fileName), upload, { signal })
}

/** Fetches an archive, checks it, stores it, and reads it back. */
export async function storeItem(item: ImportItem, context: StoreContext): Promise<StoredItem> {
  const { signal, workDir, limits } = context
  const isModule = item.parent.kind === 'Module'
  const into = join(workDir, randomUUID())
  const fetched = await item.fetch(signal, isModule ? limits.module : limits.provider)
  try {
    const { file, stem, extension, docs } = isModule
      ? await moduleFile(item, fetched, into, context)
      : await providerFile(item, fetched, context)
    const { sha256, sizeBytes } = file
    const fileName = storedName(stem, `-${sha256.slice(0, 12)}${extension}`)
    await put(item, fileName, file, context)
    const stored = docs && (await putDocs(item, docsFileName(fileName, sha256), docs, context))
    const upload = { fileName, sha256, sizeBytes, ...(stored && { docs: stored }) }
    return { upload, protocols: fetched.protocols, readme: stored && docs?.root?.readme }
  } finally {
    await rm(into, { force: true })
    await fetched.file.remove()
  }
}

async function moduleFile(
  { parent, version }: ImportItem,
  { file, path }: ImportedArchive,
  into: string,
  { format, signal, onEvent, limits: { module: limits } }: StoreContext,
) {
  let docs: PackedDocs | undefined
  const visit = async ({ files, read }: OpenModule) => {
    docs = await packedDocs(files, read).catch((error: unknown) => {
      onEvent(undocumented(`${parent.name} ${version}`, error))
      return undefined
    })
  }
  const archive = await normaliseModule({
    file: file.path,
    into,
    format,
    path,
    limits,
    signal,
    visit,
  })
  const { extension, sha256, sizeBytes } = archive
  const stem = `${parent.name}-${version}`
  return { file: { path: into, sha256, sizeBytes }, stem, extension, docs }
}

async function providerFile(
  { parent, version, platform }: ImportItem,
  { file, sha256: expected }: ImportedArchive,
  { signal, limits: { provider: limits } }: StoreContext,
) {
  const type = parent.name
  const pages = new PageCollector()
  const reading = { file: file.path, type, limits, signal, visit: pages.take }
  const { sha256, sizeBytes } = await inspectProvider(reading)
  if (expected !== undefined && expected !== sha256) {
    throw new Error(
      `the archive has SHA-256 ${sha256.slice(0, 16)}…, and its list of checksums says ${expected.slice(0, 16)}…`,
    )
  }
  const stem = `terraform-provider-${type}_${version}_${platform?.os ?? ''}_${platform?.arch ?? ''}`
  const sent = { path: file.path, sha256, sizeBytes }
  return { file: sent, stem, extension: '.zip', docs: await pages.packed() }
}

async function put(
  { parent }: ImportItem,
  fileName: string,
  file: LocalFile,
  { store, storage, signal }: StoreContext,
): Promise<void> {
  const { driver, object } = store.for(storage, parent.name)
  await driver.put(object(fileName), file, { signal })
  if (await driver.verify(object(fileName), file, { signal })) return
  throw new Error(
    `${fileName} in storage differs from the file that was sent: remove it from storage, then import again`,
  )
}

/** Stores documentation in place of what another release made. The archive is imported all the same if that fails. */
async function putDocs(
  { parent }: ImportItem,
  fileName: string,
  docs: PackedDocs,
  { store, storage, workDir, signal, onEvent }: StoreContext,
): Promise<ArchiveDocs | undefined> {
  const place = store.for(storage, parent.name)
  try {
    await storeSmall(place, { ...docs, fileName }, join(workDir, randomUUID()), signal)
    return { sha256: docs.sha256, sizeBytes: docs.sizeBytes }
  } catch (error) {
    signal.throwIfAborted()
    onEvent(undocumented(fileName, error))
    return undefined
  }
}

const undocumented = (what: string, error: unknown) => ({
  kind: 'skipped' as const,
  what,
  message: `its documentation could not be made, and depot sync tries again: ${messageOf(error)}`,
})
