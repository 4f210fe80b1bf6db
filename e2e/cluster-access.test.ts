import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { watchKubeconfig } from '../hack/testbed/control-plane/watched.ts'

let cluster: ControlPlane

beforeAll(async () => {
  cluster = await startControlPlane({ users: { nobody: [] } })
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac', 'config/samples')
})
afterAll(() => cluster?.stop())

async function watchAs(serviceAccount: string, watchNamespace?: string) {
  const token = await cluster.serviceAccountToken('depot-system', serviceAccount)
  return watchKubeconfig(await cluster.kubeconfig({ token }), { watchNamespace })
}

interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly requestURI: string
  readonly responseStatus?: { readonly code: number }
}

function audited(serviceAccount: string): AuditEvent[] {
  return readFileSync(cluster.auditLogFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username.endsWith(`:${serviceAccount}`))
}

it('the service account of the server may read everything that it needs, and only lists and watches', async () => {
  const { cluster: watching, sink } = await watchAs('depot-server')
  await watching.ready
  expect(Object.keys(sink.versions('Version')).length).toBeGreaterThan(5)
  expect(Object.keys(sink.versions('GroupBinding'))).toEqual(['depot-system/payments'])
  expect(Object.keys(sink.versions('Namespace'))).toContain('/platform')

  for (const [name, labels] of Object.entries({
    labelled: { 'depot.internal/readme': 'true' },
    plain: {},
  })) {
    await cluster.admin.apply(`/api/v1/namespaces/platform/configmaps/${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        labels,
        ownerReferences: [
          { apiVersion: 'depot.internal/v1alpha1', kind: 'Version', name, uid: name },
        ],
      },
      data: { README: Buffer.from(`# ${name}`).toString('base64') },
    })
    watching.readmes.want('platform', name)
    await vi.waitFor(() =>
      expect(watching.readmes.get('platform', name, 'README', name)).toBe(`# ${name}`),
    )
  }
  await watching.close()

  await vi.waitFor(() => expect(audited('depot-server').length).toBeGreaterThanOrEqual(6))
  const events = audited('depot-server')
  expect(new Set(events.map((event) => event.verb))).toEqual(new Set(['list', 'watch']))
  expect(events.filter((event) => (event.responseStatus?.code ?? 0) >= 400)).toEqual([])
})

it('cannot write anything or read a secret', async () => {
  const token = await cluster.serviceAccountToken('depot-system', 'depot-server')
  const may = async (verb: string, group: string, resource: string) => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'system:serviceaccount:depot-system:depot-server',
        resourceAttributes: { verb, group, resource, namespace: 'platform' },
      },
    }
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const answer = await cluster.admin.request('POST', path, review)
    return (answer as { status: { allowed: boolean } }).status.allowed
  }
  expect(token).not.toBe('')
  expect(await may('list', 'depot.internal', 'versions')).toBe(true)
  expect(await may('update', 'depot.internal', 'versions')).toBe(false)
  expect(await may('list', '', 'secrets')).toBe(false)
  expect(await may('list', 'depot.internal', 'groupbindings')).toBe(false)
})

it('a Role and one Namespace are enough for one namespace', async () => {
  const { cluster: watching, sink } = await watchAs('depot-server-scoped', 'depot-system')
  await watching.ready
  expect(sink.versions('Version')).toEqual({})
  expect(Object.keys(sink.versions('GroupBinding'))).toEqual(['depot-system/payments'])
  expect(Object.keys(sink.versions('Namespace'))).toEqual(['/depot-system'])
  await watching.close()
})

it('says which permission is missing, and accepts the user once it is granted', async () => {
  const kubeconfig = await cluster.kubeconfig({ user: 'nobody' })
  const watched = watchKubeconfig(kubeconfig, {
    timings: { backoffMs: 20, backoffCapMs: 100 },
  })
  const { cluster: watching, logs } = watched
  const denied = () => logs.filter((line) => line.msg === 'permission missing')
  await vi.waitFor(() => expect(denied().length).toBeGreaterThanOrEqual(6))
  expect(denied().find((line) => line['kind'] === 'Module')).toMatchObject({
    verb: 'watch',
    resource: 'modules.depot.internal',
    message: expect.stringContaining('User "nobody" cannot watch resource "modules"'),
  })
  expect(await watched.metric('catalog_synced', { kind: 'Module' })).toBe(0)

  for (const kind of ['ClusterRole', 'Role'] as const) {
    const scope = kind === 'Role' ? '/namespaces/depot-system' : ''
    const name = `nobody-${kind.toLowerCase()}`
    const api = '/apis/rbac.authorization.k8s.io/v1'
    await cluster.admin.apply(`${api}${scope}/${kind.toLowerCase()}bindings/${name}`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${kind}Binding`,
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'depot-server' },
      subjects: [{ kind: 'User', name: 'nobody', apiGroup: 'rbac.authorization.k8s.io' }],
    })
  }
  await watching.ready
  await watching.close()
})

it('says that a token was refused', async () => {
  const kubeconfig = await cluster.kubeconfig({ token: 'wrong' })
  const { cluster: watching, logs } = watchKubeconfig(kubeconfig)
  await vi.waitFor(() =>
    expect(logs).toContainEqual(
      expect.objectContaining({ msg: 'permission missing', reason: 'Unauthenticated' }),
    ),
  )
  await watching.close()
})
