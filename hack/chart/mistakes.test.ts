import { describe, expect, it } from 'vitest'
import { helms, mistakes, renderText } from './helm.fixture.ts'
import { cases, malformed, oidc } from './mistakes.fixture.ts'
import { profiles } from './profiles.fixture.ts'
import { values as table } from './values.ts'

describe('values that contradict each other', () => {
  it.each(cases)('%s is refused with a message that says what to do', (_, values, message) => {
    expect(mistakes(values)).toContainEqual(message)
  })

  it('tests every message', () => {
    const tested = new Set(cases.map(([name]) => name.slice(0, 3)))
    expect([...tested]).toEqual(
      Array.from({ length: 36 }, (_, i) => `V${String(i + 1).padStart(2, '0')}`),
    )
  })

  it.each(table.filter(({ retired }) => retired))(
    'the name $name of an older chart is reported, and passes the schema',
    ({ name }) => {
      const given = name.split('.').reduceRight<object>((below, key) => ({ [key]: below }), {})
      expect(mistakes({ ...given })).toEqual([
        expect.stringMatching(new RegExp(`^V3[16] ${name.replaceAll('.', '[.]')} `)),
      ])
    },
  )

  it('accepts values of scanning that is disabled, and a base URL with a path', () => {
    const scanning = { enabled: false, cache: { accessMode: 'ReadWriteMany' } }
    expect(mistakes({ scanning, server: { baseUrl: 'https://example.com/terraform' } })).toEqual([])
  })

  it('accepts values of the previous chart below scanning, except the names that are reported', () => {
    const scanning = {
      enabled: true,
      providerScanning: true,
      cacheMountPath: '/var/cache/trivy',
      offline: true,
      blockOnCritical: true,
      blockOnHigh: true,
      cache: { storageClassName: 'shared', accessMode: 'ReadWriteMany', size: '1Gi' },
      dbUpdater: { schedule: '0 2 * * *' },
    }
    expect(mistakes({ scanning })).toEqual([])
    const image = { repository: 'aquasec/trivy', tag: '0.70.0' }
    const all = { ...scanning, scanModules: true, dbUpdater: { ...scanning.dbUpdater, image } }
    expect(mistakes({ scanning: all })).toEqual([
      'V31 scanning.dbUpdater.image is now removed (the image of the scanner downloads the database); see docs/migrating.md',
      'V31 scanning.scanModules is now removed (modules are always scanned); see docs/migrating.md',
    ])
  })

  it.each(malformed)('the schema refuses %j at %s', (values, path) => {
    expect(() => renderText(values)).toThrow(new RegExp(`at '/[^']*${path}'`))
  })

  it.each(helms)('%s reports all of them at once, and none twice', (helm) => {
    const values = {
      broker: { enabled: true, config: { issuer: 'http://id.example.com' } },
      server: { oidc: { enabled: true, issuerUrl: '%zz' }, useBearerToken: true, replicaCount: 2 },
      ui: { enabled: true },
      valkey: { enabled: false },
    }
    expect(mistakes(values, { helm }).map((line) => line.slice(0, 3))).toEqual([
      'V01',
      'V08',
      'V08',
      'V10',
      'V14',
      'V20',
      'V35',
    ])
  })

  it.each(Object.entries(profiles))('finds no mistake in the profile %s', (_, values) => {
    expect(mistakes(values)).toEqual([])
  })

  it.each([
    'http://127.0.0.1:5556/broker',
    'http://localhost:5556',
    'http://dex.login.svc:5556/dex',
    'http://dex.login.svc.cluster.local/dex',
    'https://id.example.com:8443/realms/x',
  ])('accepts the issuer %s', (issuerUrl) => {
    expect(mistakes(oidc({ issuerUrl }))).toEqual([])
  })
})
