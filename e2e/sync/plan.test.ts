import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { put } from '../../cmd/import/import.fixture.ts'
import { bareEnvironment } from '../../hack/testbed/environment.ts'
import { environmentOf, folderOfProgram } from '../documentation.fixture.ts'
import { ControlledCluster } from './controlled-cluster.fixture.ts'

let cluster: ControlledCluster
let environment: Record<string, string | undefined>
const bin = folderOfProgram()
const dir = mkdtempSync(join(tmpdir(), 'depot-plan-e2e-'))

const depot = (constraints: string, name = 'main') => `apiVersion: depot.internal/v1alpha1
kind: Depot
metadata: { name: ${name}, namespace: team }
spec:
  global:
    storageConfig:
      fileSystem: { directoryPath: team }
  moduleConfigs:
    - name: ${name === 'main' ? 'vpc' : name}
      provider: aws
      repoUrl: https://github.com/acme/vpc
      versionConstraints: '${constraints}'
`

beforeAll(async () => {
  cluster = await ControlledCluster.start('team')
  const { github, flags } = cluster.upstreams
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    github.tag('acme/vpc', `v${version}`, { 'main.tf': `# ${version}\n`, 'README.md': '# vpc\n' })
  }
  environment = {
    ...bareEnvironment,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    TMPDIR: dir,
    ...environmentOf(flags),
  }
}, 300_000)
afterAll(async () => {
  await cluster?.stop()
  for (const folder of [bin, dir]) rmSync(folder, { recursive: true })
})

async function run(program: string, ...args: readonly string[]) {
  const child = spawn(program, args, {
    cwd: dir,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await exited
  return { status, stdout, stderr }
}

it('a file is planned against a cluster, as a person who may only read', async () => {
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
    run('depot', 'plan', ...args, '--archives', cluster.archives)
  put(join(dir, 'changed/main.yaml'), depot('>= 1.1'))
  put(join(dir, 'changed/more.yaml'), depot('1.0.0', 'more'))
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
