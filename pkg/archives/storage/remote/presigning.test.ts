import { describe, expect, it } from 'vitest'
import { createLogger, createMetrics } from '../../../base/telemetry/telemetry.ts'
import { createArchives } from '../archives.ts'
import { ttlSecondsOf } from '../presigning.ts'

it.each([
  [undefined, 900],
  ['15m', 900],
  ['1h30m', 5400],
  ['1.5h', 5400],
  ['90s', 90],
  ['1500ms', 1],
  ['1ns', 1],
  ['0s', 1],
  ['8760h', 604_800],
])('parses the ttl %s as %i seconds', (ttl, seconds) => {
  expect(ttlSecondsOf(ttl)).toBe(seconds)
})

describe('a pre-signed URL', () => {
  const lines: string[] = []
  const archives = createArchives({
    grants: { text: '*=*', annotation: 'depot.internal/storage' },
    filesystemMountPath: '/nowhere',
    s3: { accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'a session' },
    log: createLogger('info', { write: (line) => void lines.push(line) }),
    metrics: createMetrics({ version: 'test' }),
  })
  const presign = (storage: object, configName = 'vpc') =>
    archives.presign({
      location: { storage, configName, fileName: 'a b+1.zip' },
      sha256: '0'.repeat(64),
      label: { namespace: 'acme', kind: 'Module', name: 'vpc', version: '1.0.0' },
    })
  const s3 = { bucket: 'archives', region: 'eu-west-1', key: '/team/' }

  it('names the object in its region, for as long as the config says', async () => {
    const url = new URL((await presign({ s3, presign: { enabled: true, ttl: '5m' } })) ?? '')
    expect(url.origin).toBe('https://archives.s3.eu-west-1.amazonaws.com')
    expect(url.pathname).toBe('/team/vpc/a%20b%2B1.zip')
    expect(url.searchParams.get('X-Amz-Expires')).toBe('300')
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe('a session')
    expect(url.search).not.toContain('secret')
  })

  it('works for regions in China, and for buckets with dots', async () => {
    const china = { bucket: 'archives', region: 'cn-north-1' }
    expect(await presign({ s3: china, presign: { enabled: true } })).toMatch(
      /^https:\/\/archives\.s3\.cn-north-1\.amazonaws\.com\.cn\/vpc\//,
    )
    const dots = { bucket: 'my.archives', region: 'eu-west-1' }
    expect(await presign({ s3: dots, presign: { enabled: true } })).toMatch(
      /^https:\/\/s3\.eu-west-1\.amazonaws\.com\/my\.archives\/vpc\//,
    )
  })

  it.each([{}, { presign: {} }, { presign: { enabled: false } }])(
    'is not created for the config %j',
    async (config) => {
      expect(await presign({ s3, ...config })).toBeUndefined()
    },
  )

  it('is not created for a directory, whose archives are streamed', async () => {
    const fileSystem = { directoryPath: 'modules' }
    expect(await presign({ fileSystem, presign: { enabled: true } })).toBeUndefined()
  })

  it('is an error for a directory if the fallback is forbidden', async () => {
    const storage = {
      fileSystem: { directoryPath: 'modules' },
      presign: { enabled: true, fallbackToProxy: false },
    }
    await expect(presign(storage)).rejects.toMatchObject({
      reason: 'NotConfigured',
      status: 501,
      message: expect.stringContaining('set presign.fallbackToProxy to true'),
    })
  })

  it('is never created for a name with ..', async () => {
    const presigned = { s3, presign: { enabled: true, fallbackToProxy: false } }
    await expect(presign(presigned, '..')).rejects.toMatchObject({ reason: 'NotFound' })
  })
})
