import { describe, expect, it } from 'vitest'
import { type Kind, parseResource, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { Catalog } from './catalog.ts'

const sha256 = (digit: string) => digit.repeat(64)

function parse(kind: Kind, name: string, rest: object, metadata: object = {}): Resource {
  const raw = { metadata: { name, namespace: 'platform', ...metadata }, ...rest }
  const parsed = parseResource(kind, raw)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

const module = (name: string, config: object = {}, metadata: object = {}) =>
  parse('Module', name, { spec: { moduleConfig: { storageConfig, ...config } } }, metadata)

const storageConfig = { fileSystem: { directoryPath: 'modules' } }

const owner = (name: string, kind = 'Module') => ({
  ownerReferences: [{ apiVersion: 'depot.internal/v1alpha1', kind, name }],
})

interface VersionOptions {
  readonly metadata?: object
  readonly spec?: object
  readonly status?: object
}

const version = (name: string, number: string, options: VersionOptions = {}) =>
  parse(
    'Version',
    name,
    {
      spec: { type: 'Module', version: number, fileName: `${name}.zip`, ...options.spec },
      status: { checksum: sha256('a'), synced: true, ...options.status },
    },
    { ...owner('vpc'), ...options.metadata },
  )

const upsert = (catalog: Catalog, ...resources: Resource[]) => {
  for (const resource of resources) catalog.apply({ type: 'upsert', resource })
}

const numbers = (catalog: Catalog, name = 'vpc') =>
  catalog.modules
    .get('platform')
    ?.get(name)
    ?.versions.map((row) => row.version)

describe('versions of a parent', () => {
  it('are sorted newest first by semver precedence, in any order of arrival', () => {
    const catalog = new Catalog()
    const given = ['1.10.0', '1.2.0', 'v2.0.0-rc.1', '2.0.0', '1.9.0', '2.0.0-rc.2', '0.1.0+b']
    upsert(catalog, module('vpc'), ...given.map((number, index) => version(`x${index}`, number)))
    expect(numbers(catalog)).toEqual([
      '2.0.0',
      '2.0.0-rc.2',
      '2.0.0-rc.1',
      '1.10.0',
      '1.9.0',
      '1.2.0',
      '0.1.0+b',
    ])
  })

  it('lose their leading v', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('x', ' v1.2.3 '))
    expect(
      catalog.modules
        .get('platform')
        ?.get('vpc')
        ?.rowsOf('1.2.3')
        .map((row) => row.name),
    ).toEqual(['x'])
  })

  it.each(['latest', '1.2', '01.2.3', '=1.2.3', 'vv1.2.3', '', '1.2.3.4'])(
    'come last and are reported if %j is not semver',
    (number) => {
      const leftOut: string[] = []
      const catalog = new Catalog({ onLeftOut: (row) => leftOut.push(row.name) })
      upsert(catalog, module('vpc'), version('good', '1.0.0'), version('bad', number))
      expect(numbers(catalog)).toEqual(['1.0.0', number])
      expect(
        catalog.modules
          .get('platform')
          ?.get('vpc')
          ?.versions.map((row) => row.downloadable),
      ).toEqual([true, false])
      expect(leftOut).toEqual(['bad'])
      expect(catalog.count('Version')).toBe(2)
    },
  )

  it('may arrive before their parent', () => {
    const catalog = new Catalog()
    upsert(catalog, version('x', '1.0.0'))
    expect(catalog.modules.get('platform')?.get('vpc')).toBeUndefined()
    upsert(catalog, module('vpc'))
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })

  it('remain without their parent and find it again', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('x', '1.0.0'))
    catalog.apply({ type: 'delete', kind: 'Module', namespace: 'platform', name: 'vpc' })
    expect(catalog.modules.get('platform')?.get('vpc')).toBeUndefined()
    upsert(catalog, module('vpc'))
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })

  it('move when they change and disappear when they are deleted', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('a', '1.0.0'), version('b', '2.0.0'))
    upsert(catalog, version('a', '3.0.0'))
    expect(numbers(catalog)).toEqual(['3.0.0', '2.0.0'])
    catalog.apply({ type: 'delete', kind: 'Version', namespace: 'platform', name: 'b' })
    expect(numbers(catalog)).toEqual(['3.0.0'])
  })

  it('are kept apart from those of a module with the same name in another namespace', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), module('vpc', {}, { namespace: 'other' }))
    upsert(catalog, version('x', '1.0.0', { metadata: { namespace: 'other' } }))
    expect(numbers(catalog)).toEqual([])
    expect(catalog.modules.get('other')?.get('vpc')?.versions).toHaveLength(1)
  })
})

describe('the parent of a version', () => {
  const byConfig = (name: string, config: string) =>
    version(name, '1.0.0', {
      metadata: { ownerReferences: [] },
      spec: { moduleConfigRef: { name: config } },
    })

  it('is found by the name in its config', () => {
    const catalog = new Catalog()
    upsert(catalog, byConfig('x', 'vpc'), module('vpc'))
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })

  it('is found by its config name if that differs from its own name, in either order of arrival', () => {
    const catalog = new Catalog()
    upsert(catalog, byConfig('early', 'my_vpc'), module('vpc', { name: 'my_vpc' }))
    upsert(catalog, byConfig('late', 'my_vpc'))
    expect(numbers(catalog)).toEqual(['1.0.0', '1.0.0'])
  })

  it('changes with the config names of the modules', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc', { name: 'net' }), byConfig('x', 'net'))
    expect(numbers(catalog, 'vpc')).toEqual(['1.0.0'])
    upsert(catalog, module('net'))
    expect([numbers(catalog, 'vpc'), numbers(catalog, 'net')]).toEqual([[], ['1.0.0']])
    catalog.apply({ type: 'delete', kind: 'Module', namespace: 'platform', name: 'net' })
    expect(numbers(catalog, 'vpc')).toEqual(['1.0.0'])
    upsert(catalog, module('vpc'))
    expect(numbers(catalog, 'vpc')).toEqual([])
  })

  it('is the owner, even if the config names another', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), module('net'))
    upsert(catalog, version('x', '1.0.0', { spec: { moduleConfigRef: { name: 'net' } } }))
    expect(numbers(catalog, 'vpc')).toEqual(['1.0.0'])
  })

  it('provides the storage of a version without its own, even after a change', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc', { storageConfig: undefined }), version('x', '1.0.0'))
    const row = catalog.modules.get('platform')?.get('vpc')?.versions[0]
    expect(row?.unserved?.message).toBe(
      'neither it nor its parent has a storageConfig: set one in its parent',
    )
    upsert(catalog, module('vpc', { name: 'vpc' }))
    expect(row?.location).toEqual({
      storage: storageConfig,
      configName: 'vpc',
      fileName: 'x.zip',
    })
  })
})

describe('a version that cannot be downloaded', () => {
  it.each([
    [
      'no checksum',
      { status: { checksum: undefined } },
      'its archive has not been synchronised yet, and it has no spec.upload.sha256: set that, or let a Depot fetch it',
    ],
    [
      'no checksum and a status',
      { status: { checksum: undefined, syncStatus: 'failed: no such tag' } },
      'its archive has not been synchronised yet (failed: no such tag)',
    ],
    [
      'a malformed checksum',
      { status: { checksum: 'abc' } },
      'its checksum is not a SHA-256 in base64 or hexadecimal: correct it',
    ],
    ['no file name', { spec: { fileName: undefined } }, 'it has no file name: set spec.fileName'],
    [
      'a file name of two lines',
      { spec: { fileName: 'a\nb' } },
      'its file name holds what a file name may not: correct spec.fileName',
    ],
  ])('says why: %s', (_, options, why) => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('x', '1.0.0', options))
    const row = catalog.modules.get('platform')?.get('vpc')?.versions[0]
    expect([row?.unserved?.message, row?.state]).toEqual([why, 'unservable'])
  })
})

describe('findings', () => {
  const finding = (id: string, title = 'bad') => ({ vulnerabilityID: id, pkgName: 'p', title })
  const scanned = (name: string, findings: object[]) =>
    version(name, '1.0.0', {
      status: { sourceScan: { scannedAt: '2026-01-01T00:00:00Z', findings } },
    })

  it('are stored once, and dropped with the last version that has them', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), scanned('a', [finding('1'), finding('2')]))
    upsert(catalog, scanned('b', [finding('2'), finding('3'), finding('2', 'worse')]))
    expect(catalog.findings.size).toBe(4)
    catalog.apply({ type: 'delete', kind: 'Version', namespace: 'platform', name: 'b' })
    expect(catalog.findings.size).toBe(2)
    upsert(catalog, scanned('a', []))
    expect(catalog.findings.size).toBe(0)
  })

  it.each([
    ['are ignored if another archive was scanned', 'b', undefined, 0],
    ['count if the served archive was scanned', 'a', '2026-01-01T00:00:00Z', 1],
  ])('%s', (_, digit, scannedAt, expected) => {
    const scanOf = (findings: object[]) => ({ scannedAt: '2026-01-01T00:00:00Z', findings })
    const status = {
      checksum: 'a'.repeat(64),
      sourceScan: scanOf([finding('1')]),
      scan: {
        sha256: digit.repeat(64),
        scanner: 'trivy 0.70.0',
        counts: { critical: 0, high: 0, medium: 0, low: 0, unknown: 1 },
      },
    }
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('a', '1.0.0', { status }))
    const row = catalog.modules.get('platform')?.get('vpc')?.versions[0]
    expect([row?.sourceScannedAt, catalog.findings.size]).toEqual([scannedAt, expected])
  })

  it('are returned unchanged and in order', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), scanned('a', [finding('2'), finding('1'), finding('2')]))
    const list = catalog.modules.get('platform')?.get('vpc')?.versions[0]?.sourceFindings ?? 0
    const held = Array.from(catalog.findings.ids(list), (id) => catalog.findings.at(id))
    expect(held.map((one) => one.vulnerabilityID)).toEqual(['2', '1', '2'])
  })

  it('are correct after replacements in any order', () => {
    const catalog = new Catalog()
    const ids = Array.from({ length: 30 }, (_, index) => String(index % 7))
    upsert(catalog, module('vpc'))
    for (let round = 0; round < 50; round += 1) {
      const chosen = ids.slice(round % 11, 11 + ((round * 7) % 19))
      upsert(
        catalog,
        scanned(
          `v${round % 5}`,
          chosen.map((id) => finding(id, `${round % 3}`)),
        ),
      )
    }
    const held = catalog.modules
      .get('platform')
      ?.get('vpc')
      ?.versions.flatMap((row) => Array.from(catalog.findings.ids(row.sourceFindings)))
      .map((id) => catalog.findings.at(id))
      .map((one) => `${one.vulnerabilityID} ${one.title}`)
    expect(catalog.findings.size).toBe(new Set(held).size)
  })
})

describe('the index by digest', () => {
  it('follows every change', () => {
    const catalog = new Catalog()
    const names = (digit: string) => {
      const asked: string[] = []
      catalog.oldestBySha256(sha256(digit), ({ name }) => asked.push(name) === 0, 1)
      return asked.toSorted()
    }
    upsert(catalog, version('a', '1.0.0'), version('b', '1.1.0'), version('c', '1.2.0'))
    expect(names('a')).toEqual(['a', 'b', 'c'])
    upsert(catalog, version('b', '1.1.0', { status: { checksum: sha256('b') } }))
    expect([names('a'), names('b')]).toEqual([['a', 'c'], ['b']])
    for (const name of ['a', 'c']) {
      catalog.apply({ type: 'delete', kind: 'Version', namespace: 'platform', name })
    }
    expect(names('a')).toEqual([])
  })
})

async function replace(catalog: Catalog, kind: Kind, resources: Iterable<Resource>): Promise<void> {
  const replacement = catalog.beginReplace(kind)
  for (const resource of resources) replacement.add(resource)
  await replacement.commit()
}

it('regards a Version with an upload digest as in sync', () => {
  const catalog = new Catalog()
  const upload = { sha256: 'b'.repeat(64) }
  const status = { checksum: undefined, synced: undefined }
  upsert(catalog, module('vpc'), version('a', '1.0.0', { spec: { upload }, status }))
  const row = catalog.version('platform', 'a')
  expect([row?.health, row?.sha256]).toEqual(['synced', upload.sha256])
})

describe('a release of a provider', () => {
  const provider = parse('Provider', 'dns', { spec: { providerConfig: { storageConfig } } })
  const platforms = { linux: 'a', darwin: 'b', windows: 'c' } as const
  const release = Object.entries(platforms).map(([os, digit]) => ({
    platform: `${os}_amd64`,
    sha256: sha256(digit),
  }))
  const part = (
    os: keyof typeof platforms,
    status: object = {},
    digit: string = platforms[os],
    others = release,
    name = `dns-${os}`,
  ) =>
    version(name, '1.0.0', {
      metadata: owner('dns', 'Provider'),
      spec: {
        type: 'Provider',
        operatingSystem: os,
        architecture: 'amd64',
        fileName: `${os}.zip`,
        upload: { sha256: sha256(digit), release: others },
      },
      status: { checksum: undefined, synced: undefined, ...status },
    })
  const servedIn = (catalog: Catalog) =>
    ['linux', 'darwin', 'windows'].filter(
      (os) => catalog.version('platform', `dns-${os}`)?.downloadable === true,
    )

  it('is served once every platform is published, with the archives that were published together', () => {
    const catalog = new Catalog()
    upsert(catalog, provider, part('linux'), part('darwin'))
    expect(servedIn(catalog)).toEqual([])
    expect(catalog.version('platform', 'dns-linux')?.unserved).toEqual({
      reason: 'ReleaseIncomplete',
      message:
        'its release lacks windows_amd64: publish it again with the same zips, or delete the Versions of this release',
    })
    upsert(catalog, part('windows', {}, 'd'))
    expect(servedIn(catalog)).toEqual([])
    upsert(catalog, part('windows'))
    expect(servedIn(catalog)).toEqual(['linux', 'darwin', 'windows'])
  })

  it('names the older Version that has a platform without an archive', () => {
    const catalog = new Catalog()
    const older = version('a-linux', '1.0.0', {
      metadata: owner('dns', 'Provider'),
      spec: { type: 'Provider', operatingSystem: 'linux', architecture: 'amd64' },
      status: { checksum: undefined, synced: undefined },
    })
    upsert(catalog, provider, older, part('linux'), part('darwin'), part('windows'))
    expect(servedIn(catalog)).toEqual([])
    expect(catalog.version('platform', 'dns-darwin')?.unserved?.message).toBe(
      'its release lacks linux_amd64: publish it again with the same zips, or delete the Versions of this release. Older Versions of its platforms have other archives, or none: a-linux (linux_amd64). Remove those first if this release is the right one',
    )
  })

  it('is not served with a zip of another release until that release is complete', () => {
    const catalog = new Catalog()
    const other = release.filter(({ platform }) => platform !== 'windows_amd64')
    upsert(catalog, provider, part('linux', {}, 'a', other), part('darwin'), part('windows'))
    expect(servedIn(catalog)).toEqual([])
    const upper = other.map((one) => ({ ...one, sha256: one.sha256.toUpperCase() }))
    upsert(catalog, part('linux', {}, 'a', upper), part('darwin', {}, 'b', other))
    expect(servedIn(catalog)).toEqual(['linux', 'darwin', 'windows'])
  })

  it('is not completed by a zip that is not served, because an older Version has its platform', () => {
    const catalog = new Catalog()
    upsert(catalog, provider, part('linux'), part('darwin'), part('windows', {}, 'd', []))
    upsert(catalog, part('windows', {}, 'c', release, 'dns-windows-2'))
    expect(servedIn(catalog)).toEqual(['windows'])
  })

  it('stays served from storage if a platform is deleted', () => {
    const catalog = new Catalog()
    const stored = (digit: string) => ({ checksum: sha256(digit) })
    upsert(catalog, provider, part('linux', stored('a')), part('darwin', stored('b')))
    upsert(catalog, part('windows', stored('c')))
    catalog.apply({ type: 'delete', kind: 'Version', namespace: 'platform', name: 'dns-darwin' })
    expect(servedIn(catalog)).toEqual(['linux', 'windows'])
  })
})

describe('revisions', () => {
  const at = (resourceVersion: string, number: string) =>
    version('x', number, { metadata: { resourceVersion } })

  it.each([
    ['older', '99', '1.0.0'],
    ['equal', '100', '1.0.0'],
    ['newer', '1000', '2.0.0'],
    ['not a number', 'abc', '2.0.0'],
  ])('%s: a change takes effect unless it is older', (_, resourceVersion, expected) => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), at('100', '1.0.0'), at(resourceVersion, '2.0.0'))
    expect(numbers(catalog)).toEqual([expected])
  })

  it('may be lower in a fresh list, because the cluster was restored', async () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), at('100', '1.0.0'))
    await replace(catalog, 'Version', [at('50', '0.9.0')])
    expect(numbers(catalog)).toEqual(['0.9.0'])
  })
})

describe('replace', () => {
  it('removes objects that are not in the list and keeps the rest', async () => {
    const catalog = new Catalog()
    await replace(catalog, 'Module', [module('vpc')])
    await replace(catalog, 'Version', [version('a', '1.0.0'), version('b', '2.0.0')])
    await replace(catalog, 'Version', [version('b', '2.0.0'), version('c', '3.0.0')])
    expect(numbers(catalog)).toEqual(['3.0.0', '2.0.0'])
  })

  it('serves the previous content until it is committed', async () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('a', '1.0.0'))
    const replacement = catalog.beginReplace('Version')
    replacement.add(version('b', '2.0.0'))
    expect(numbers(catalog)).toEqual(['2.0.0', '1.0.0'])
    await replacement.commit()
    expect(numbers(catalog)).toEqual(['2.0.0'])
  })

  it('keeps changes that arrive while it runs', async () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'))
    const replacement = catalog.beginReplace('Version')
    upsert(catalog, version('new', '1.0.0'))
    await replacement.commit()
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })

  it('keeps an invalid object of the list', async () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('a', '1.0.0'), version('b', '2.0.0'))
    const replacement = catalog.beginReplace('Version')
    replacement.keep({ kind: 'Version', namespace: 'platform', name: 'a' })
    await replacement.commit()
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })

  it('treats different content as a change at any revision, because a restore reuses numbers', async () => {
    const catalog = new Catalog()
    const at = (uid: string, number: string) =>
      version('a', number, { metadata: { resourceVersion: '7', uid } })
    upsert(catalog, module('vpc'), at('first', '1.0.0'))
    await replace(catalog, 'Version', [at('first', '2.0.0')])
    expect(numbers(catalog)).toEqual(['2.0.0'])
    upsert(catalog, at('first', '3.0.0'))
    expect(numbers(catalog)).toEqual(['2.0.0'])
    upsert(catalog, at('second', '3.0.0'))
    expect(numbers(catalog)).toEqual(['3.0.0'])
  })

  it('returns the state of a known object', () => {
    const catalog = new Catalog()
    const key = { kind: 'Version', namespace: 'platform', name: 'a' } as const
    upsert(catalog, version('a', '1.0.0', { metadata: { resourceVersion: '7', uid: 'first' } }))
    expect(catalog.holds(key, { resourceVersion: '7', uid: 'first' })).toBe(true)
    expect(catalog.holds(key, { resourceVersion: '7', uid: 'second' })).toBe(false)
    expect(catalog.holds(key, { resourceVersion: '8', uid: 'first' })).toBe(false)
    expect(catalog.holds({ ...key, name: 'b' }, { resourceVersion: '7', uid: '' })).toBeUndefined()
  })

  it('removes tens of thousands in turns, between which requests are answered', async () => {
    const catalog = new Catalog()
    for (let i = 0; i < 60_000; i += 1) {
      const metadata = owner(`m${i % 600}`)
      upsert(catalog, version(`v${i}`, `1.${i % 300}.${i}`, { metadata }))
    }
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await catalog.beginReplace('Version').commit()
    clearInterval(timer)
    expect(catalog.count('Version')).toBe(0)
    expect(turns).toBeGreaterThan(3)
  })

  it('leaves other kinds unchanged', async () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), version('a', '1.0.0'))
    await replace(catalog, 'Provider', [])
    expect(numbers(catalog)).toEqual(['1.0.0'])
  })
})

it('does not remember versions that clients invent', () => {
  const catalog = new Catalog()
  upsert(catalog, module('vpc'), version('a', '1.0.0'))
  const before = process.memoryUsage().heapUsed
  for (let round = 0; round < 2000; round += 1) {
    expect(
      catalog.modules
        .get('platform')
        ?.get('vpc')
        ?.rowsOf(`${round}${'9'.repeat(60_000)}`),
    ).toEqual([])
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60e6)
})

it('accepts names of prototype properties', () => {
  const catalog = new Catalog()
  for (const name of ['__proto__', 'constructor', 'toString']) {
    expect(catalog.modules.get(name)?.get(name)).toBeUndefined()
    upsert(catalog, module(name), version(name, '1.0.0', { metadata: owner(name) }))
    expect(numbers(catalog, name)).toEqual(['1.0.0'])
  }
})

it('drops computed values of a parent when one of its versions changes', () => {
  const catalog = new Catalog()
  upsert(catalog, module('vpc'), version('a', '1.0.0'))
  const count = () => {
    const parent = catalog.modules.get('platform')?.get('vpc')
    return parent?.memo('count', () => parent.versions.length)
  }
  expect(count()).toBe(1)
  upsert(catalog, version('b', '2.0.0'))
  expect(count()).toBe(2)
  catalog.apply({ type: 'delete', kind: 'Version', namespace: 'platform', name: 'a' })
  expect(count()).toBe(1)
})

it('counts versions by state', () => {
  const catalog = new Catalog()
  upsert(
    catalog,
    module('vpc'),
    version('a', '1.0.0'),
    version('b', '1.1.0', { status: { synced: false } }),
    version('c', '1.2.0', { status: { syncStatus: 'Sync FAILED' } }),
    version('d', '1.3.0', { status: { checksum: undefined } }),
  )
  expect(catalog.versionStates().Module).toEqual({
    synced: 1,
    unsynced: 1,
    failed: 1,
    unservable: 1,
  })
})
