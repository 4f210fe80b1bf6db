import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { put } from '../../cmd/import/import.fixture.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'
import { depot, PlanFolder } from './plan.fixture.ts'

let cluster: ControlledCluster
let place: PlanFolder

beforeAll(async () => {
  cluster = await ControlledCluster.start('team')
  place = new PlanFolder(cluster.upstreams)
}, 300_000)
afterAll(async () => {
  place?.[Symbol.dispose]()
  await cluster?.stop()
})

it('a file is planned against a cluster by a person who may only read', async () => {
  const { plane } = cluster
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/team'
  const resources = ['depots', 'modules', 'providers', 'versions']
  for (const name of ['reader', 'stranger']) {
    const accounts = '/api/v1/namespaces/team/serviceaccounts'
    await plane.admin.request('POST', accounts, { metadata: { name } })
  }
  const token = await plane.serviceAccountToken('team', 'reader')
  const stranger = await plane.serviceAccountToken('team', 'stranger')
  const rules = [{ apiGroups: ['depot.internal'], resources, verbs: ['list', 'watch'] }]
  await plane.admin.request('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules })
  await plane.admin.request('POST', `${rbac}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'team' }],
  })
  const kubeconfig = await plane.kubeconfig({ token })
  const { spec } = parse(depot('~> 1.0')) as { spec: object }
  await cluster.apply('Depot', 'team', 'main', { spec })
  const line = cluster.audit().length

  const plan = (...args: readonly string[]) =>
    place.run('depot', 'plan', ...args, '--archives', cluster.archives)
  put(join(place.dir, 'changed/main.yaml'), depot('>= 1.1'))
  put(join(place.dir, 'changed/more.yaml'), depot('1.0.0', 'more'))
  expect(await plan('changed', '--kubeconfig', kubeconfig)).toMatchObject({
    status: 2,
    stdout: `~ Depot team/main: change: moduleConfigs
+ Depot team/more: create
+ Module team/more: create: for Depot more
+ Module team/more: fetch 1.0.0
+ Module team/vpc: create: for Depot main
+ Module team/vpc: fetch 1.1.0, 2.0.0
Plan: 3 to create, 1 to change, 3 to fetch.
`,
  })
  const writes = cluster
    .audit()
    .slice(line)
    .filter(({ user }) => user.username.endsWith(':reader'))
    .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  expect(writes).toEqual([])

  const refused = await plan('changed', '--kubeconfig', await plane.kubeconfig({ token: stranger }))
  expect(refused).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/cannot be read: .*cannot (list|watch) resource/) as string,
  })
  const nowhere = await plane.kubeconfig({ token, url: 'https://127.0.0.1:1' })
  expect(await plan('changed', '--kubeconfig', nowhere)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('ECONNREFUSED') as string,
  })
})
