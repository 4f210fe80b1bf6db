import { hash, randomUUID } from 'node:crypto'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Change,
  configOfParent,
  fanOut,
  type Resource,
  type StorageConfig,
} from '../../pkg/api/v1alpha1/v1alpha1.ts'
import {
  type ArchivePlace,
  openArchiveStore,
  storageOfEnvironment,
} from '../../pkg/archives/storage/storage.ts'
import { hasReason } from '../../pkg/base/errors/errors.ts'
import type { ProxyRules } from '../../pkg/base/http/http.ts'
import { requireNone } from '../../pkg/base/options/options.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { causeOf } from '../../pkg/fill/egress/egress.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { type RecordsSource, readInto } from '../explain/explain.ts'
import { type Examination, type Found, ok, results, type Verdict, warning } from './check.ts'

interface StorageOptions {
  readonly records: RecordsSource
  /** Namespaces whose records count. Default: all. */
  readonly namespaces?: readonly string[] | undefined
  readonly proxies: ProxyRules
  /** Whether archives are stored there too. */
  readonly writes: boolean
}

interface Used {
  readonly storage: StorageConfig
  readonly configName: string
}

/**
 * Tries each storage that Modules and Providers name: asks for an object, and stores and removes one where archives are
 * stored.
 */
export async function storageFindings({
  records,
  namespaces,
  proxies,
  writes,
}: StorageOptions): Promise<Found[]> {
  const places = new Map<string, Used>()
  const note = (resource: Resource): void => {
    if (resource.kind !== 'Module' && resource.kind !== 'Provider') return
    const { storageConfig, name = resource.metadata.name } = configOfParent(resource)
    if (storageConfig === undefined) return
    const { presign: _, ...storage } = storageConfig
    places.set(JSON.stringify(storage), { storage, configName: name })
  }
  const noting = {
    apply: (change: Change) => {
      if (change.type === 'upsert') note(change.resource)
    },
    beginReplace: () => ({ add: note, keep: () => undefined, commit: () => undefined }),
  }
  const { apiGroup, archives: filesystemMountPath } = records
  const reading: Examination = {
    what: 'storage',
    async run() {
      for (const namespace of namespaces ?? [undefined]) {
        const sink = fanOut(new Catalog({ apiGroup }), noting)
        await readInto(sink, records, { kinds: ['Module', 'Provider'], namespace })
      }
      return ok(`${places.size} named by Modules and Providers`)
    },
  }
  const [read] = await results([reading])
  if (read === undefined || read.status === 'failed') return read === undefined ? [] : [read]
  if (places.size === 0) {
    const remedy = 'apply a Depot or a Module, and run this again'
    return [{ what: 'storage', ...warning('no Module or Provider names one yet', remedy) }]
  }
  const { settings } = storageOfEnvironment(process.env)
  const store = openArchiveStore({ filesystemMountPath, proxies, ...settings })
  return results(
    [...places.values()].map(({ storage, configName }) => ({
      what: `storage ${titleOf(storage)}`,
      remedy: `give this process ${writes ? 'read, write, list and delete' : 'read and list'} permission there, or correct storageConfig; docs/storage.md lists the permissions and variables`,
      run() {
        const isFolder = storage.fileSystem !== undefined
        requireNone(isFolder ? folderProblem('--archives', filesystemMountPath) : undefined)
        return tryPlace(store.for(storage, configName), writes)
      },
    })),
  )
}

async function tryPlace(place: ArchivePlace, writes: boolean): Promise<Verdict> {
  const { driver, object } = place
  const name = object(`.depot-doctor-${randomUUID()}`)
  if (!writes) return tryReading(place, name)
  using dir = mkdtempDisposableSync(join(tmpdir(), 'depot-doctor-'))
  const bytes = 'depot'
  const path = join(dir.path, 'object')
  writeFileSync(path, bytes)
  const file = { path, sizeBytes: bytes.length, sha256: hash('sha256', bytes) }
  await driver.put(name, file)
  const isSame = await driver.verify(name, file, { read: true })
  await driver.remove(name)
  if (!isSame) throw new Error('the object that was read differs from what was stored')
  return ok('can be written, read and deleted')
}

/** @param name of an object that does not exist */
async function tryReading({ driver, prefix }: ArchivePlace, name: string): Promise<Verdict> {
  const error = await driver.stat(name).catch((thrown: unknown) => thrown)
  const cause = causeOf(error) ?? ''
  if (/\b403\b/.test(cause) && hasReason(error, 'BadGateway')) {
    return warning(
      `${cause}; a store also refuses missing objects if this process may not list`,
      'give it permission to list (s3:ListBucket), or try an archive: terraform init',
    )
  }
  if (!hasReason(error, 'NotFound')) throw error
  // The answer about an object does not tell whether the bucket exists.
  for await (const _ of driver.list(prefix)) break
  return ok('can be read')
}

function titleOf({ s3, azureStorage, gcs, fileSystem }: StorageConfig): string {
  if (s3) return `s3://${s3.bucket}/${s3.key ?? ''}`
  if (azureStorage) return azureStorage.accountUrl
  return gcs ? `gs://${gcs.bucket}` : `folder ${fileSystem?.directoryPath ?? ''}`
}
