import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open as openFile, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogger, createMetrics, type Metrics } from '../../base/telemetry/telemetry.ts'
import { createArchives } from './archives.ts'
import { bytesOf } from './conformance.fixture.ts'
import type { Archive, Archives } from './types.ts'

const sizeBytes = 3_000_000
const bytes = randomBytes(sizeBytes)
const sha256 = digestOf(bytes)
const label = { namespace: 'acme', kind: 'Module', name: 'vpc', version: '1.0.0' }
const location = {
  storage: { fileSystem: { directoryPath: 'modules' } },
  configName: 'vpc',
  fileName: '1.0.0.zip',
}
const archive: Archive = { location, sha256, label }

const account = { accountName: 'acc', subscriptionID: 's', resourceGroup: 'r' }

let mountPath: string
let path: string
let archives: Archives
let metrics: Metrics
let lines: string[]
/** Ahead of the real time, so that files count as settled. */
let aheadMs: number

beforeEach(async () => {
  mountPath = mkdtempSync(join(tmpdir(), 'depot-archives-'))
  mkdirSync(join(mountPath, 'modules/vpc'), { recursive: true })
  path = join(mountPath, 'modules/vpc/1.0.0.zip')
  await writeFile(path, bytes)
  metrics = createMetrics({ version: 'test' })
  lines = []
  aheadMs = 60_000
  archives = createArchives({
    grants: { text: '*=*', annotation: 'depot.internal/storage' },
    filesystemMountPath: mountPath,
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics,
    clock: () => Date.now() + aheadMs,
  })
})
afterEach(() => rmSync(mountPath, { recursive: true }))

/** Replaces the bytes of a file so that none of its attributes changes. */
async function corruptInSecret(): Promise<void> {
  const file = await openFile(path, 'r+')
  await file.write(Buffer.from('not the bytes of the archive'), 0, 28, sizeBytes - 100)
  await file.close()
}

const valueOf = async (name: string, labels: Record<string, string>): Promise<number> => {
  const found = await metrics.getSingleMetric(`depot_${name}`)?.get()
  const same = found?.values.find((value) =>
    Object.entries(labels).every(([key, wanted]) => value.labels[key] === wanted),
  )
  return same?.value ?? 0
}

describe('an archive', () => {
  it('is sent whole if its bytes are right', async () => {
    const { sizeBytes: size, range, body } = await archives.open(archive)
    expect({ size, range }).toEqual({ size: sizeBytes, range: undefined })
    expect(digestOf(await bytesOf(body))).toBe(sha256)
    expect(await valueOf('archive_bytes_total', { source: 'backend' })).toBe(sizeBytes)
  })

  it('is aborted if its bytes are wrong, with a log line and a count', async () => {
    await corruptInSecret()
    const { body } = await archives.open(archive)
    await expect(bytesOf(body)).rejects.toMatchObject({ reason: 'BadGateway' })
    expect(await valueOf('archive_bytes_total', { source: 'backend' })).toBeLessThan(sizeBytes)
    const aborts = { backend: 'filesystem', reason: 'ChecksumMismatch' }
    expect(await valueOf('archive_aborts_total', aborts)).toBe(1)
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        ...label,
        level: 'error',
        msg: 'archive does not match its checksum',
        component: 'storage',
        backend: 'filesystem',
        sha256,
      }),
    ])
  })

  it('is refused before an answer if it is unexpectedly empty', async () => {
    await writeFile(path, '')
    await expect(archives.open(archive)).rejects.toMatchObject({ reason: 'BadGateway' })
    expect(lines).toHaveLength(1)
    const { body } = await archives.open({ ...archive, sha256: digestOf('') })
    expect(await bytesOf(body)).toHaveLength(0)
  })

  it('is checked again if its file changed after a successful check', async () => {
    await bytesOf((await archives.open(archive)).body)
    await corruptInSecret()
    const { mtimeMs } = await stat(path)
    await utimes(path, mtimeMs / 1000, mtimeMs / 1000)
    await expect(bytesOf((await archives.open(archive)).body)).rejects.toThrow(/checksum/)
  })

  it('is checked every time while its file is too young to show changes', async () => {
    aheadMs = 0
    await bytesOf((await archives.open(archive)).body)
    await corruptInSecret()
    await expect(bytesOf((await archives.open(archive)).body)).rejects.toThrow(/checksum/)
  })

  it('is counted as aborted when the client disconnects', async () => {
    const { body } = await archives.open(archive)
    await body.read()
    body.close()
    const aborts = { backend: 'filesystem', reason: 'ClientGone' }
    expect(await valueOf('archive_aborts_total', aborts)).toBe(1)
    expect(lines).toEqual([])
  })

  it.each([
    { what: 'a file that is missing', change: { fileName: '2.0.0.zip' } },
    { what: 'a directory outside', change: { storage: { fileSystem: { directoryPath: '/etc' } } } },
    { what: 'an absolute name', change: { configName: '/etc', fileName: 'passwd' } },
    { what: 'a name that climbs', change: { configName: '..' } },
    { what: 'a file name that climbs', change: { fileName: '../../../../etc/passwd' } },
    { what: 'no name', change: { configName: '' } },
    { what: 'no file name', change: { fileName: '' } },
    { what: 'a bucket that cannot be', change: { storage: { gcs: { bucket: 'B/../c' } } } },
    {
      what: 'a region that names a host',
      change: { storage: { s3: { bucket: 'bucket', region: 'x.example.com/' } } },
    },
    {
      what: 'an account with a host of its own',
      change: { storage: { azureStorage: { ...account, accountUrl: 'https://127.0.0.1:1/' } } },
    },
    {
      what: 'an account with the host of another',
      change: {
        storage: {
          azureStorage: { ...account, accountUrl: 'https://other.blob.core.windows.net' },
        },
      },
    },
    {
      what: 'an account behind what looks like Azure',
      change: {
        storage: {
          azureStorage: {
            ...account,
            accountUrl: 'https://acc.blob.core.windows.net.evil.example',
          },
        },
      },
    },
  ])('is not found: $what', async ({ change }) => {
    const elsewhere = { ...location, ...change }
    const absent = { name: 'RegistryError', reason: 'NotFound' }
    await expect(archives.open({ ...archive, location: elsewhere })).rejects.toMatchObject(absent)
    await expect(archives.stat(elsewhere)).rejects.toMatchObject(absent)
    await expect(archives.digest(elsewhere)).rejects.toMatchObject(absent)
  })

  it('is found by the absolute path of its directory', async () => {
    const storage = { fileSystem: { directoryPath: join(mountPath, 'modules') } }
    expect(await archives.stat({ ...location, storage })).toMatchObject({ sizeBytes })
  })

  it('is measured by the answer of the storage', async () => {
    await archives.stat(location)
    await archives.stat({ ...location, fileName: 'none' }).catch(() => {})
    const name = 'storage_request_duration_seconds'
    const stats = { backend: 'filesystem', operation: 'stat' }
    const found = await metrics.getSingleMetricAsString(`depot_${name}`)
    expect(found).toContain(
      `depot_${name}_count{backend="${stats.backend}",operation="stat",result="ok"} 1`,
    )
    expect(found).toContain(
      `depot_${name}_count{backend="${stats.backend}",operation="stat",result="NotFound"} 1`,
    )
  })
})

describe('a part of an archive', () => {
  it('is sent after the whole archive was checked', async () => {
    const { sizeBytes: size, range, body } = await archives.open(archive, { start: 7, end: 9e9 })
    expect({ size, range }).toEqual({ size: sizeBytes, range: { start: 7, end: sizeBytes - 1 } })
    expect(await bytesOf(body)).toEqual(bytes.subarray(7))
  })

  it('is refused if the whole archive is wrong, even if the part is right', async () => {
    await corruptInSecret()
    const range = { start: 0, end: 0 }
    await expect(archives.open(archive, range)).rejects.toMatchObject({ reason: 'BadGateway' })
    expect(lines).toHaveLength(1)
  })

  it('beyond the end is not satisfiable', async () => {
    const range = { start: sizeBytes, end: sizeBytes }
    const unsatisfiable = { reason: 'RangeNotSatisfiable' }
    await expect(archives.open(archive, range)).rejects.toMatchObject(unsatisfiable)
  })

  it('reads the file once for concurrent requests', async () => {
    const parts = await Promise.all(
      Array.from({ length: 50 }, (_, start) => archives.open(archive, { start, end: start })),
    )
    const found = await Promise.all(parts.map(({ body }) => bytesOf(body)))
    expect(Buffer.concat(found)).toEqual(bytes.subarray(0, 50))
    const opened = await metrics.getSingleMetricAsString('depot_storage_request_duration_seconds')
    // 50 requests without trust, one that checks, 50 that are answered.
    expect(opened).toContain('operation="open",result="ok"} 101')
  })
})

describe('the digest of an archive', () => {
  it('is returned with size and fingerprint', async () => {
    const { fingerprint } = await archives.stat(location)
    expect(await archives.digest(location)).toMatchObject({ sha256, sizeBytes, fingerprint })
  })

  it('spares the first reader the hashing', async () => {
    await archives.digest(location)
    const { body } = await archives.open(archive, { start: 1, end: 1 })
    await bytesOf(body)
    const opened = await metrics.getSingleMetricAsString('depot_storage_request_duration_seconds')
    expect(opened).toContain('operation="open",result="ok"} 2')
  })

  it('can be aborted', async () => {
    const calledOff = new AbortController()
    const digest = archives.digest(location, calledOff.signal)
    calledOff.abort(new Error('not needed any more'))
    await expect(digest).rejects.toThrow('not needed any more')
  })
})

function digestOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
