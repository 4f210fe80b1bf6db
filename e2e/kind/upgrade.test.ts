import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { apply, json, kind, kubectl, must, namespace } from './cluster.fixture.ts'
import {
  applySamples,
  install,
  makeNamespace,
  metricOf,
  ownEnd,
  podsOf,
  prepare,
  startLoad,
  uninstall,
  untilServed,
} from './release.fixture.ts'

/* An operator changes a release in use. */

interface Definition {
  readonly metadata: { readonly labels: object; readonly annotations: object }
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: {
          readonly properties: { readonly status: { readonly properties: Record<string, unknown> } }
        }
      }
    }[]
  }
}

const values = { server: { ...ownEnd, anonymousAuth: true, replicaCount: 2 } }

beforeAll(async () => {
  await makeNamespace()
  await install(values)
  await prepare()
})

it('an upgrade under load loses no request', async () => {
  const load = startLoad()
  await install({ server: { ...values.server, podAnnotations: { changed: 'once' } } })
  const { answered, failed } = await load.stop()
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(100)
  for (const pod of await podsOf('server'))
    expect(await metricOf(pod, 'http_requests_in_flight')).toBe(0)
})

it('a rollback under load loses no request', async () => {
  const load = startLoad()
  await must(kind.tools.helm, ['rollback', 'depot', '-n', namespace, '--wait', '--timeout', '120s'])
  const { answered, failed } = await load.stop()
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(100)
})

it('an upgrade updates the definitions and loses no request', async () => {
  const name = 'versions.depot.internal'
  const older = await json<Definition>('get', 'crd', name)
  const { labels, annotations } = older.metadata
  for (const { schema } of older.spec.versions)
    delete schema.openAPIV3Schema.properties.status.properties['archiveSizeBytes']
  // The state that an earlier release of the chart leaves.
  const left = { ...older, metadata: { name, labels, annotations }, status: undefined }
  await apply([left], { manager: 'helm', force: true })
  const load = startLoad()
  await install({ server: { ...values.server, podAnnotations: { changed: 'twice' } } })
  const { answered, failed } = await load.stop()
  expect(failed).toEqual([])
  expect(answered).toBeGreaterThan(100)
  const { spec } = await json<Definition>('get', 'crd', name)
  const fields = spec.versions.map(
    ({ schema }) => schema.openAPIV3Schema.properties.status.properties,
  )
  expect(fields[0]).toHaveProperty('archiveSizeBytes')
  await applySamples()
})

it('uninstalling keeps definitions, records and archives, and a new install uses them', async () => {
  const before = (await kubectl('get', 'versions.depot.internal', '-A', '-o', 'name')).split('\n')
  await uninstall()
  expect((await kubectl('get', 'versions.depot.internal', '-A', '-o', 'name')).split('\n')).toEqual(
    before,
  )
  expect(await kubectl('-n', namespace, 'get', 'pvc', '-o', 'name')).toContain('depot-modules')
  await install(values)
  await untilServed()
  await applySamples()
})

it('an upgrade requests a larger volume if the storage class allows it', async () => {
  const claim = ['-n', namespace, 'pvc', 'data-depot-valkey-0'] as const
  // Other files install the release with the default size, and no claim can shrink.
  onTestFinished(async () => {
    await uninstall()
    await kubectl('delete', ...claim)
  })
  await kubectl('patch', 'storageclass', 'standard', '-p', '{"allowVolumeExpansion":true}')
  await install({ ...values, valkey: { dataStorage: { requestedSize: '2Gi' } } })
  const path = 'jsonpath={.spec.resources.requests.storage}'
  expect(await kubectl('get', ...claim, '-o', path)).toBe('2Gi')
})
