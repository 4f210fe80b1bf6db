import { describe, expect, it } from 'vitest'
import { cpuTimeMs } from '../../../hack/testbed/cpu-time.ts'
import { type Kind, parseResource, type Resource } from '../../api/v1alpha1/v1alpha1.ts'
import { Catalog, type Conflict } from './catalog.ts'

const storageConfig = { fileSystem: { directoryPath: 'modules' } }

function parse(kind: Kind, name: string, metadata: object, rest: object): Resource {
  const parsed = parseResource(kind, {
    metadata: { name, namespace: 'team', ...metadata },
    ...rest,
  })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.resource
}

/** @param day of creation, in January */
const created = (day: number) => ({
  creationTimestamp: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
})

const module = (name: string, config: object = {}, metadata: object = {}) =>
  parse('Module', name, metadata, { spec: { moduleConfig: { storageConfig, ...config } } })

interface VersionOptions {
  readonly metadata?: object
  readonly config?: object
  readonly version?: string
  readonly digit?: string
}

const version = (name: string, options: VersionOptions = {}) =>
  parse('Version', name, options.metadata ?? {}, {
    spec: {
      type: 'Module',
      version: options.version ?? '1.0.0',
      fileName: `${name}.zip`,
      ...(options.config && { moduleConfigRef: options.config }),
    },
    status: { checksum: (options.digit ?? 'a').repeat(64), synced: true },
  })

const owner = (name: string, uid?: string) => ({
  ownerReferences: [{ apiVersion: 'depot.internal/v1alpha1', kind: 'Module', name, uid }],
})

const upsert = (catalog: Catalog, ...resources: Resource[]) => {
  for (const resource of resources) catalog.apply({ type: 'upsert', resource })
}
const remove = (catalog: Catalog, kind: Kind, name: string) =>
  catalog.apply({ type: 'delete', kind, namespace: 'team', name })

const at = (catalog: Catalog, name: string, system?: string) =>
  catalog.parentAt('Module', 'team', name, system)?.name
const parentOf = (catalog: Catalog, name: string) => catalog.version('team', name)?.parent?.name
const served = (catalog: Catalog, parent: string, number = '1.0.0') =>
  catalog.modules
    .get('team')
    ?.get(parent)
    ?.rowsOf(number)
    .filter((row) => row.downloadable)
    .map((row) => row.name)

/** All permutations of some items. */
function* orders<T>(things: readonly T[]): Generator<readonly T[]> {
  if (things.length < 2) yield things
  for (const [index, thing] of things.entries()) {
    if (things.length < 2) return
    for (const rest of orders(things.toSpliced(index, 1))) yield [thing, ...rest]
  }
}

describe('an address', () => {
  it('has a module for each system', () => {
    const catalog = new Catalog()
    upsert(catalog, module('network', { provider: 'aws' }))
    upsert(catalog, module('network-azurerm', { name: 'network', provider: 'azurerm' }))
    expect(at(catalog, 'network', 'aws')).toBe('network')
    expect(at(catalog, 'network', 'azurerm')).toBe('network-azurerm')
    expect(at(catalog, 'network-azurerm', 'azurerm')).toBe('network-azurerm')
    expect(at(catalog, 'network', 'google')).toBeUndefined()
    expect(catalog.conflicts.AddressTaken).toBe(0)
  })

  it('may differ from the name of the object', () => {
    const catalog = new Catalog()
    upsert(catalog, module('my-module', { name: 'my_module', provider: 'aws' }))
    expect(at(catalog, 'my_module', 'aws')).toBe('my-module')
    remove(catalog, 'Module', 'my-module')
    expect(at(catalog, 'my_module', 'aws')).toBeUndefined()
  })

  it('belongs to the older object in any order of arrival, and to the other one after the older is removed', () => {
    const old = module('b', { name: 'net', provider: 'aws' }, created(1))
    const young = module('a', { name: 'net', provider: 'aws' }, created(2))
    const versions = [
      version('old-1', { metadata: owner('b') }),
      version('young-1', { metadata: owner('a'), digit: 'b' }),
    ]
    for (const order of orders([old, young, ...versions])) {
      const conflicts: Conflict[] = []
      const catalog = new Catalog({ onConflict: (conflict) => conflicts.push(conflict) })
      upsert(catalog, ...order)
      expect(at(catalog, 'net', 'aws')).toBe('b')
      expect([served(catalog, 'b'), served(catalog, 'a')]).toEqual([['old-1'], []])
      expect(catalog.version('team', 'young-1')?.unserved?.message).toContain('which was first')
      expect(catalog.conflicts.AddressTaken).toBe(1)
      const reasons = conflicts
        .filter(({ name }) => name === 'a')
        .map(({ unserved }) => unserved()?.message)
        .filter(Boolean)
      expect(reasons.at(-1)).toBe(
        'its address net/aws is that of b, which was first: give one of them another name in its config',
      )
      remove(catalog, 'Module', 'b')
      expect(at(catalog, 'net', 'aws')).toBe('a')
      expect(served(catalog, 'a')).toEqual(['young-1'])
      expect(catalog.conflicts.AddressTaken).toBe(0)
    }
  })

  it('belongs to the object with that name, and the other object gets its own name', () => {
    const catalog = new Catalog()
    upsert(catalog, module('other', { name: 'net', provider: 'aws' }, created(1)))
    upsert(catalog, version('other-1', { metadata: owner('other') }))
    upsert(catalog, module('net', { provider: 'aws' }, created(2)))
    expect([at(catalog, 'net', 'aws'), at(catalog, 'other', 'aws')]).toEqual(['net', 'other'])
    expect(served(catalog, 'other')).toEqual(['other-1'])
    expect(catalog.conflicts.AddressTaken).toBe(1)
  })

  it('in a folder belongs to the object that had it first, even if the other one is older', () => {
    const catalog = new Catalog({ firstBy: 'arrival' })
    upsert(catalog, module('b', { name: 'other', provider: 'aws' }))
    upsert(catalog, module('a', { name: 'net', provider: 'aws' }))
    upsert(catalog, module('b', { name: 'net', provider: 'aws' }))
    expect(at(catalog, 'net', 'aws')).toBe('a')
  })

  it('without a system includes every system that no older module has', () => {
    const catalog = new Catalog()
    upsert(catalog, module('aws', { name: 'net', provider: 'aws' }, created(1)))
    upsert(catalog, module('any', { name: 'net' }, created(2)))
    upsert(catalog, module('late', { name: 'net', provider: 'gcp' }, created(3)))
    expect(['aws', 'gcp', 'azurerm'].map((system) => at(catalog, 'net', system))).toEqual([
      'aws',
      'any',
      'any',
    ])
    expect(catalog.conflicts.AddressTaken).toBe(1)
  })
})

describe('the parent of a Version', () => {
  it('is its owner, identified by uid', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc', {}, { uid: 'one' }))
    upsert(catalog, version('same', { metadata: owner('vpc', 'one') }))
    upsert(catalog, version('unsaid', { metadata: owner('vpc'), version: '2.0.0' }))
    upsert(catalog, version('former', { metadata: owner('vpc', 'two') }))
    const names = ['same', 'unsaid', 'former']
    expect(names.map((name) => parentOf(catalog, name))).toEqual(['vpc', 'vpc', undefined])
    expect(catalog.version('team', 'former')?.unserved?.message).toContain('it has no parent')
    expect(catalog.conflicts.ParentMissing).toBe(1)
    upsert(catalog, module('vpc', {}, { uid: 'two' }))
    expect(names.map((name) => parentOf(catalog, name))).toEqual([undefined, 'vpc', 'vpc'])
  })

  it('is the module of its name and system, otherwise the only one with that config name and system', () => {
    const catalog = new Catalog()
    upsert(catalog, version('aws', { config: { name: 'net', provider: 'aws' } }))
    upsert(catalog, version('azurerm', { config: { name: 'net', provider: 'azurerm' } }))
    upsert(catalog, version('any', { config: { name: 'net' } }))
    const parents = () => ['aws', 'azurerm', 'any'].map((name) => parentOf(catalog, name))
    upsert(catalog, module('net-aws', { name: 'net', provider: 'aws' }))
    expect(parents()).toEqual(['net-aws', undefined, 'net-aws'])
    upsert(catalog, module('net-azurerm', { name: 'net', provider: 'azurerm' }))
    expect(parents()).toEqual(['net-aws', 'net-azurerm', undefined])
    upsert(catalog, module('net', { provider: 'gcp' }))
    expect(parents()).toEqual(['net-aws', 'net-azurerm', 'net'])
    upsert(catalog, module('net', { provider: 'aws' }))
    expect(parents()).toEqual(['net', 'net-azurerm', 'net'])
    remove(catalog, 'Module', 'net')
    remove(catalog, 'Module', 'net-azurerm')
    expect(parents()).toEqual(['net-aws', undefined, 'net-aws'])
  })

  it('is never guessed, and a Version without a parent is not served', () => {
    const catalog = new Catalog()
    upsert(catalog, module('a', { name: 'net' }), module('b', { name: 'net' }))
    upsert(catalog, version('x', { config: { name: 'net' } }), version('y'))
    expect(['x', 'y'].map((name) => parentOf(catalog, name))).toEqual([undefined, undefined])
    expect(catalog.versionStates().Module.unservable).toBe(2)
    remove(catalog, 'Version', 'y')
    remove(catalog, 'Module', 'b')
    expect(parentOf(catalog, 'x')).toBe('a')
    expect(catalog.conflicts.ParentMissing).toBe(0)
  })
})

describe('two Versions of one version', () => {
  const one = version('one', { metadata: { ...owner('vpc'), ...created(1) }, digit: 'a' })
  const two = version('two', { metadata: { ...owner('vpc'), ...created(2) }, digit: 'b' })

  it('resolve to the one that was created first, in any order of arrival', () => {
    for (const order of orders([module('vpc'), one, two])) {
      const catalog = new Catalog()
      upsert(catalog, ...order)
      expect(served(catalog, 'vpc')).toEqual(['one'])
      const duplicate = catalog.version('team', 'two')
      expect([duplicate?.unserved?.message, duplicate?.state]).toEqual([
        'duplicate of one, which was first: remove one',
        'unservable',
      ])
      expect(catalog.conflicts.Duplicate).toBe(1)
      remove(catalog, 'Version', 'one')
      expect(served(catalog, 'vpc')).toEqual(['two'])
      expect(catalog.conflicts.Duplicate).toBe(0)
    }
  })

  it('in a folder resolve to the one that arrived first, whatever creation time they claim', () => {
    const catalog = new Catalog({ firstBy: 'arrival' })
    upsert(catalog, module('vpc'), two, one)
    expect(served(catalog, 'vpc')).toEqual(['two'])
    upsert(catalog, version('two', { metadata: owner('vpc'), digit: 'c' }))
    expect(served(catalog, 'vpc')).toEqual(['two'])
  })

  it('in a folder resolve to the one that had that version first, even if the other one is older', () => {
    const catalog = new Catalog({ firstBy: 'arrival' })
    const other = version('one', { metadata: owner('vpc'), version: '0.9.0' })
    upsert(catalog, module('vpc'), other, two)
    upsert(catalog, one)
    expect(served(catalog, 'vpc')).toEqual(['two'])
    upsert(catalog, other, one)
    expect(served(catalog, 'vpc')).toEqual(['two'])
    remove(catalog, 'Version', 'two')
    expect(served(catalog, 'vpc')).toEqual(['one'])
  })

  it('in a folder resolve to the one that was in that module first, even if the other one had the number first', () => {
    const catalog = new Catalog({ firstBy: 'arrival' })
    const of = (name: string, provider: string) =>
      version(name, { config: { name: 'vpc', provider } })
    upsert(catalog, module('vpc-aws', { name: 'vpc', provider: 'aws' }))
    upsert(catalog, of('one', 'azurerm'), of('two', 'aws'))
    upsert(catalog, module('vpc-azure', { name: 'vpc', provider: 'azurerm' }))
    expect(served(catalog, 'vpc-aws')).toEqual(['two'])
    upsert(catalog, of('one', 'aws'))
    expect(served(catalog, 'vpc-aws')).toEqual(['two'])
  })

  it('are not duplicates of each other if their platforms differ, or one is not semver', () => {
    const catalog = new Catalog()
    upsert(catalog, module('vpc'), one)
    upsert(catalog, version('three', { metadata: owner('vpc'), version: '1.0.0+b' }))
    expect(served(catalog, 'vpc', '1.0.0+b')).toEqual(['three'])
  })

  it('are all reported if there are many, and each change is cheap', async () => {
    const conflicts: Conflict[] = []
    const catalog = new Catalog({ onConflict: (conflict) => conflicts.push(conflict) })
    upsert(catalog, module('vpc'), one)
    const before = cpuTimeMs()
    for (let index = 0; index < 9000; index += 1) {
      upsert(catalog, version(`x${index}`, { metadata: { ...owner('vpc'), ...created(3) } }))
    }
    expect((cpuTimeMs() - before) / 9000).toBeLessThan(2)
    expect(served(catalog, 'vpc')).toEqual(['one'])
    await catalog.model.whenSettled
    expect(catalog.conflicts.Duplicate).toBe(9000)
    expect(conflicts.at(-1)?.unserved()?.message).toMatch(
      /^9000 of its Versions are duplicates .*: x0, x1, /,
    )
  })
})

it('moves many Versions at once when their parent is added, removed or renamed', () => {
  const catalog = new Catalog()
  const numbers = Array.from({ length: 3000 }, (_, index) => `1.${index % 50}.${index}`)
  for (const [index, number] of numbers.entries()) {
    upsert(catalog, version(`x${index}`, { config: { name: 'net' }, version: number }))
  }
  upsert(catalog, module('a', { name: 'net' }))
  expect(catalog.modules.get('team')?.get('a')?.versions).toHaveLength(3000)
  upsert(catalog, module('a', { name: 'other' }))
  expect(catalog.modules.get('team')?.get('a')?.versions).toHaveLength(0)
  expect(catalog.conflicts.ParentMissing).toBe(3000)
  upsert(catalog, module('net'))
  const versions = catalog.modules.get('team')?.get('net')?.versions ?? []
  expect(versions).toHaveLength(3000)
  expect(versions[0]?.version).toBe('1.49.2999')
  remove(catalog, 'Module', 'net')
  expect(catalog.conflicts.ParentMissing).toBe(3000)
})

it.each<[string, (index: number) => object]>([
  ['system', () => ({ name: 'net', provider: 'aws' })],
  ['name, each for another system', (index) => ({ name: 'net', provider: `cloud${index}` })],
])('takes 20,000 Modules with one %s in linear time', (_, config) => {
  const catalog = new Catalog()
  const before = cpuTimeMs()
  for (let index = 0; index < 20_000; index += 1) {
    upsert(catalog, module(`m${String(index).padStart(5, '0')}`, config(index)))
  }
  // Reading all of them for each change took 75 seconds on a quiet machine. This takes one or two.
  expect(cpuTimeMs() - before).toBeLessThan(20_000)
  expect(catalog.parentAt('Module', 'team', 'net')?.name).toBe('m00000')
})
