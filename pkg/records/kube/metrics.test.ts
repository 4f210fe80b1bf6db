import { join } from 'node:path'
import { expect, it } from 'vitest'
import { moduleObject, startFakeCluster } from '../../../hack/testbed/control-plane/fake-cluster.ts'
import { RecordingSink } from '../../../hack/testbed/recording-sink.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { loadConnection, openCluster } from './kube.ts'

const modulesOf = (namespace: string) =>
  `/apis/depot.internal/v1alpha1/namespaces/${namespace}/modules`

it('a kind that is watched in several namespaces shows the worst of them', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      for (const namespace of ['bad', 'good']) {
        const { metadata, ...rest } = moduleObject(
          'x',
          namespace === 'bad' ? { fileFormat: 1 } : {},
        )
        api.put(modulesOf(namespace), { ...rest, metadata: { ...metadata, namespace } })
      }
      api.missing.add(modulesOf('missing'))
    },
  })
  const metrics = createMetrics({ version: 'test' })
  let nowMs = 1_000_000
  const cluster = openCluster({
    connection: loadConnection({ kubeconfig: join(fake.directory, 'kubeconfig'), env: {} }),
    apiGroup: 'depot.internal',
    log: createLogger('fatal'),
    metrics,
    clock: () => nowMs,
  })
  const valuesOf = async (name: string) => {
    const found = await metrics.getSingleMetric(`depot_${name}`)?.get()
    return (found?.values ?? []).map(({ labels, value }) => ({ ...labels, value }))
  }
  const watch = (watchNamespace: string) =>
    cluster.watch({
      kinds: ['Module'],
      scope: { watchNamespace, bindingsNamespace: watchNamespace },
      sink: new RecordingSink(),
    })
  try {
    await watch('bad').ready
    // A bookmark that ends a list may be followed by nothing, so only new watches hear from the API server later.
    nowMs = 5_000_000
    await watch('good').ready
    expect(await valuesOf('catalog_synced')).toEqual([{ kind: 'Module', value: 1 }])
    expect(await valuesOf('watch_last_contact_timestamp_seconds')).toEqual([
      { kind: 'Module', value: 1_000 },
    ])
    expect(await valuesOf('watch_stale')).toEqual([{ kind: 'Module', value: 1 }])
    const rejected = await valuesOf('catalog_rejected_objects')
    expect(rejected).toContainEqual({ kind: 'Module', reason: 'Invalid', value: 1 })
    expect(rejected.filter(({ value }) => value > 0)).toHaveLength(1)
    watch('missing')
    await watch('good').ready
    expect(await valuesOf('catalog_synced')).toEqual([{ kind: 'Module', value: 0 }])
  } finally {
    await cluster.close()
  }
})
