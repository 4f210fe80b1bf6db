import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { customResourceDefinition } from '../hack/definitions.ts'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { customResourceKinds } from '../pkg/api/v1alpha1/v1alpha1.ts'

const kinds = ['modules', 'providers', 'versions', 'depots', 'groupbindings']
const objectColumns = 'custom-columns=:metadata.namespace,:metadata.name'
const root = '/apis/depot.internal/v1alpha1/namespaces/team'

let cluster: ControlPlane

beforeAll(async () => {
  cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases')
  await cluster.admin.apply('/api/v1/namespaces/team', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team' },
  })
})
afterAll(() => cluster?.stop())

const object = (kind: string, name: string, fields: object) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind,
  metadata: { name, namespace: 'team' },
  ...fields,
})

async function kubectl(...args: readonly string[]): Promise<string> {
  const all = ['--kubeconfig', cluster.kubeconfigFile, ...args]
  return (await promisify(execFile)('kubectl', all)).stdout
}

it.each(kinds)('the definition of %s is structural and established', async (plural) => {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.depot.internal`
  const { status } = (await cluster.admin.request('GET', path)) as {
    status: { conditions: { type: string; status: string }[] }
  }
  const conditions = Object.fromEntries(status.conditions.map(({ type, status: is }) => [type, is]))
  expect(conditions).toEqual({ NamesAccepted: 'True', Established: 'True' })
})

describe('an invalid object', () => {
  it.each([
    {
      name: 'a Module without a config',
      path: 'modules/bad',
      body: object('Module', 'bad', { spec: {} }),
      message: /spec\.moduleConfig: Required value/,
    },
    {
      name: 'a Module with an unknown file format',
      path: 'modules/bad',
      body: object('Module', 'bad', { spec: { moduleConfig: { fileFormat: 'rar' } } }),
      message:
        /spec\.moduleConfig\.fileFormat: Unsupported value: "rar": supported values: "zip", "tar"/,
    },
    {
      name: 'a Version of an unknown type',
      path: 'versions/bad',
      body: object('Version', 'bad', { spec: { type: 'Chart', version: '1.0.0' } }),
      message: /spec\.type: Unsupported value: "Chart"/,
    },
    {
      name: 'a GroupBinding without an expression',
      path: 'groupbindings/bad',
      body: object('GroupBinding', 'bad', { spec: { expression: '' } }),
      message: /spec\.expression/,
    },
    {
      name: 'two storage backends at once',
      path: 'modules/bad',
      body: object('Module', 'bad', {
        spec: {
          moduleConfig: {
            storageConfig: { gcs: { bucket: 'b' }, fileSystem: { directoryPath: '/d' } },
          },
        },
      }),
      message: /storageConfig/,
    },
  ])('$name is refused with the field that is wrong', async ({ path, body, message }) => {
    await expect(cluster.admin.apply(`${root}/${path}`, body)).rejects.toThrow(message)
  })
})

it('a status is written separately, and writing a spec does not change it', async () => {
  const path = `${root}/versions/net-1.0.0`
  const spec = { type: 'Module', version: '1.0.0' }
  await cluster.admin.apply(
    path,
    object('Version', 'net-1.0.0', { spec, status: { synced: true } }),
  )
  const before = (await cluster.admin.request('GET', path)) as { status?: unknown }
  expect(before.status).toBeUndefined()

  const status = { synced: true, checksum: 'ab'.repeat(32), archiveSizeBytes: 7 }
  await cluster.admin.apply(
    `${path}/status`,
    object('Version', 'net-1.0.0', { status }),
    'controller',
  )
  const changed = { ...spec, forceSync: true }
  await cluster.admin.apply(path, object('Version', 'net-1.0.0', { spec: changed }))
  expect(await cluster.admin.request('GET', path)).toMatchObject({ spec: changed, status })
})

it('kubectl shows useful columns', async () => {
  await applyManifests(cluster.admin, 'config/samples')
  const modules = await kubectl('get', 'modules', '--all-namespaces')
  expect(modules.split('\n')[0]).toMatch(/NAMESPACE +NAME +\S+.*AGE/)
  const header = async (plural: string) => (await kubectl('get', plural, '-A')).split('\n')[0]
  const columns = await Promise.all(
    kinds.map(async (plural) => (await header(plural))?.trim().split(/\s{2,}/).length ?? 0),
  )
  // More than namespace, name and age.
  expect(Math.min(...columns)).toBeGreaterThan(3)
  for (const kind of ['modules', 'providers', 'versions', 'depots']) {
    expect(await header(kind)).toMatch(/READY +REASON/)
    expect(await header(kind)).not.toContain('STATUS')
  }
})

describe('kubectl finds an object by every name of its kind', () => {
  const names = customResourceKinds.flatMap((kind) => {
    const {
      plural,
      singular,
      shortNames = [],
    } = customResourceDefinition(kind, 'depot.internal').spec.names
    return [singular, plural, ...shortNames].flatMap((name) => [
      { kind, name },
      { kind, name: `${name}.depot.internal` },
    ])
  })

  beforeAll(() => applyManifests(cluster.admin, 'config/samples'))

  it.each(names)('$name', async ({ kind, name }) => {
    const [sample = ''] = (
      await kubectl('get', kind, '-A', '--no-headers', '-o', objectColumns)
    ).split('\n')
    const [namespace = '', own = ''] = sample.split(/\s+/)
    const about = [name, own, '-n', namespace]
    expect(await kubectl('get', ...about, '-o', 'name')).toMatch(new RegExp(`/${own}\n$`))
    const deleted = await kubectl('delete', ...about, '--dry-run=server', '-o', 'name')
    expect(deleted.trim().split('\n')).toHaveLength(1)
  })

  it('lists all of them by their category', async () => {
    const listed = await kubectl('get', 'depots-all', '-A', '-o', 'name')
    const kindsOf = new Set(listed.match(/^[a-z]+(?=\.depot\.internal\/)/gm))
    expect([...kindsOf].toSorted()).toEqual(
      customResourceKinds.map((kind) => kind.toLowerCase()).toSorted(),
    )
  })
})

it('kubectl explains fields', async () => {
  // The API server publishes new definitions some time after it serves them.
  await vi.waitFor(
    async () => {
      const text = await kubectl(
        'explain',
        'versions.spec.version',
        '--api-version=depot.internal/v1alpha1',
      )
      expect(text).toMatch(/Semantic version/)
    },
    { timeout: 60_000, interval: 500 },
  )
})

it('applying the samples again changes nothing', async () => {
  const revisions = async () => {
    const path = '/apis/depot.internal/v1alpha1/versions'
    const { items } = (await cluster.admin.request('GET', path)) as {
      items: { metadata: { name: string; resourceVersion: string } }[]
    }
    return items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  }
  await applyManifests(cluster.admin, 'config/samples')
  const before = await revisions()
  await applyManifests(cluster.admin, 'config/samples')
  expect(await revisions()).toEqual(before)
})
