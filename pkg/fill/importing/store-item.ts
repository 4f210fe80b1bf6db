import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveLimits,
  inspectProvider,
  type LimitsByKind,
  normaliseModule,
  storedName,
} from '../../archives/archive/archive.ts'
import type { ArchiveStore, LocalFile } from '../../archives/storage/storage.ts'
import type { ImportItem } from './item.ts'
import type { Manifests, Upload } from './manifests.ts'

export interface StoreContext {
  readonly store: ArchiveStore
  readonly storage: StorageConfig
  readonly manifests: Manifests
  readonly format: 'zip' | 'tar.gz'
  readonly limits: LimitsByKind
  /** A folder for archives on their way. */
  readonly workDir: string
  readonly signal: AbortSignal
}

/** Whether an earlier import stored an item, and what it stored is still there. */
export async function isStored(item: ImportItem, context: StoreContext): Promise<boolean> {
  const { store, storage, manifests, signal } = context
  const upload = await manifests.uploadOf(item)
  if (upload === undefined) return false
  const place = store.for(storage, item.parent.name)
  return place.driver.verify(place.object(upload.fileName), upload, { signal })
}

/** What is stored, and not yet written down. */
export interface StoredItem {
  readonly upload: Upload
  readonly protocols: readonly string[] | undefined
}

/** Fetches an archive, checks it, stores it, and reads back what is stored. */
export async function storeItem(item: ImportItem, context: StoreContext): Promise<StoredItem> {
  const { signal, workDir, limits } = context
  const limit = item.parent.kind === 'Module' ? limits.module : limits.provider
  const into = join(workDir, randomUUID())
  const fetched = await item.fetch(signal, limit.packedBytes)
  try {
    const { file, stem, extension, protocols } =
      item.parent.kind === 'Module'
        ? await moduleFile(item, fetched, into, { ...context, limit })
        : await providerFile(item, fetched, { signal, limit })
    const { sha256, sizeBytes } = file
    const fileName = storedName(stem, `-${sha256.slice(0, 12)}${extension}`)
    const upload = { fileName, sha256, sizeBytes }
    await put(item, upload, file, context)
    return { upload, protocols }
  } finally {
    await rm(into, { force: true })
    await fetched.remove()
  }
}

type Fetched = Awaited<ReturnType<ImportItem['fetch']>>

async function moduleFile(
  { parent, version }: ImportItem,
  { file, path }: Fetched,
  into: string,
  { format, signal, limit }: StoreContext & { readonly limit: ArchiveLimits },
) {
  const archive = await normaliseModule({ file, into, format, path, limits: limit, signal })
  const { extension, sha256, sizeBytes } = archive
  const stem = `${parent.name}-${version}`
  return { file: { path: into, sha256, sizeBytes }, stem, extension, protocols: undefined }
}

async function providerFile(
  { parent, version, platform }: ImportItem,
  { file, protocols, sha256: expected }: Fetched,
  { signal, limit }: { readonly signal: AbortSignal; readonly limit: ArchiveLimits },
) {
  const type = parent.name
  const { sha256, sizeBytes } = await inspectProvider({ file, type, limits: limit, signal })
  if (expected !== undefined && expected !== sha256) {
    throw new Error(
      `the archive has SHA-256 ${sha256.slice(0, 16)}…, and its list of checksums says ${expected.slice(0, 16)}…`,
    )
  }
  const stem = `terraform-provider-${type}_${version}_${platform?.os ?? ''}_${platform?.arch ?? ''}`
  return { file: { path: file, sha256, sizeBytes }, stem, extension: '.zip', protocols }
}

async function put(
  { parent }: ImportItem,
  { fileName }: Upload,
  file: LocalFile,
  { store, storage, signal }: StoreContext,
): Promise<void> {
  const { driver, object } = store.for(storage, parent.name)
  await driver.put(object(fileName), file, { signal })
  if (await driver.verify(object(fileName), file, { signal })) return
  throw new Error(
    `what is stored as ${fileName} is not what was sent: remove it from storage, then import again`,
  )
}
