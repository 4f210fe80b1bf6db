import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workspace } from '../../hack/testbed/cli/cli.ts'
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'
import { apply, json, kind, kubectl, namespace, requestsOf, until } from './cluster.fixture.ts'
import {
  deleteRecords,
  install,
  makeNamespace,
  metricOf,
  podsOf,
  uninstall,
  url,
  versionsOf,
} from './release.fixture.ts'
import {
  github,
  hosts,
  platforms,
  registryHost,
  startUpstream,
  stopUpstream,
} from './upstream.fixture.ts'

/* One Depot, applied as a person would, fills the registry, and the CLIs install from it. */

const team = 'acme'
const here = ['-n', team]

const depot = (constraint: string) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'Depot',
  metadata: { name: team, namespace: team },
  spec: {
    deletionPolicy: 'Delete',
    global: {
      githubClientConfig: { apiUrl: github.apiUrl },
      storageConfig: { fileSystem: { directoryPath: 'acme' } },
    },
    moduleConfigs: [
      {
        name: 'vpc',
        provider: 'aws',
        repoOwner: 'acme',
        versionConstraints: constraint,
      },
    ],
    providerConfigs: [{ name: 'dns', namespace: 'acme', upstreamHost: registryHost }],
  },
})

const configuration = `
module "vpc" {
  source  = "depot.test/acme/vpc/aws"
  version = "2.0.0"
}
terraform {
  required_providers {
    dns = { source = "depot.test/acme/dns", version = "1.0.0" }
  }
}
`

/** The requests of controllers of earlier releases. One that loses its role before it ends is refused. */
let asked = 0

beforeAll(async () => {
  asked = requestsOf('depot-controller').length
  await makeNamespace()
  await makeNamespace(team)
  await deleteRecords()
  const ca = await startUpstream()
  const privateKey = await generateSigningKey({ name: 'Depot e2e', email: 'e2e@example.com' })
  const secret = (name: string, stringData: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  await apply([secret('signing', { privateKey }), secret('upstream-ca', { 'ca.crt': ca })])
  await install({
    server: { anonymousAuth: true, gpg: { secretName: 'signing' } },
    controller: {
      enabled: true,
      upstreamHosts: [registryHost],
      sourceHosts: hosts,
      removalGrace: '0s',
      egress: { privateCidrs: ['10.0.0.0/8'], caSecretName: 'upstream-ca' },
    },
  })
  await apply([depot('>= 1.0.0')])
  await kubectl(...here, 'wait', '--for=condition=Ready', `depot/${team}`, '--timeout=90s')
})
afterAll(async () => {
  await deleteRecords()
  await stopUpstream()
  await uninstall()
})

it('has every matching version, and the pods pass the restricted level', async () => {
  await until(
    () => versionsOf('acme/vpc/aws'),
    (versions) => JSON.stringify(versions) === '["2.0.0","1.1.0","1.0.0"]',
  )
  const { items } = await json<{ items: { status?: { synced?: boolean } }[] }>(
    ...here,
    'get',
    'versions.depot.internal',
  )
  expect(items).toHaveLength(3 + platforms.length)
  expect(items.filter(({ status }) => status?.synced !== true)).toEqual([])
})

it.each(['terraform', 'tofu'] as const)(
  '%s init installs the module and the provider',
  async (cli) => {
    const workspace = new Workspace(kind.tools[cli], url, configuration)
    await workspace.must('init')
    const { version, dir = '' } = workspace.modules()['vpc'] ?? {}
    expect(version).toBe('2.0.0')
    expect(readFileSync(join(dir, 'main.tf'), 'utf8')).toContain('value = "2.0.0"')
    // A line for each platform, not only for this one.
    expect(workspace.lockFile().match(/"zh:[0-9a-f]{64}"/g)).toHaveLength(platforms.length)
  },
)

it('the controller has git', async () => {
  const [pod = ''] = await podsOf('controller')
  expect(await kubectl('-n', namespace, 'exec', pod, '--', 'git', '--version')).toMatch(
    /^git version 2/,
  )
})

it('one replica holds the Lease, and another one takes over', async () => {
  const held = async (pods: readonly string[]) =>
    Promise.all(pods.map((pod) => metricOf(pod, 'lease_held')))
  expect(await held(await podsOf('controller'))).toEqual([1])
  const [before = ''] = await podsOf('controller')
  await kubectl('-n', namespace, 'delete', 'pod', before, '--grace-period=0', '--force')
  await until(
    async () => held((await podsOf('controller')).filter((pod) => pod !== before)),
    ([one]) => one === 1,
  )
})

it('removes a version that the constraint excludes, and keeps the others', async () => {
  await apply([depot('>= 1.0.0, != 1.1.0')])
  await until(
    () => versionsOf('acme/vpc/aws'),
    (versions) => JSON.stringify(versions) === '["2.0.0","1.0.0"]',
  )
  expect(await kubectl(...here, 'get', 'versions.depot.internal', '-o', 'name')).not.toContain(
    'vpc-1-1-0',
  )
})

it('deleting a Depot deletes everything that it created', async () => {
  await kubectl(...here, 'delete', `depots.depot.internal/${team}`, '--wait', '--timeout=60s')
  const all = 'modules.depot.internal,providers.depot.internal,versions.depot.internal'
  await until(
    () => kubectl(...here, 'get', all, '-o', 'name'),
    (names) => names === '',
  )
  expect(await versionsOf('acme/vpc/aws')).toBe(404)
})

it('a GroupBinding that does not compile says so in its status', async () => {
  const binding = (expression: string) => ({
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'GroupBinding',
    metadata: { name: 'broken', namespace },
    spec: { expression, moduleResources: ['*'] },
  })
  await apply([binding('"ops" in')])
  const broken = ['-n', namespace, 'groupbindings.depot.internal/broken', '--timeout=60s']
  await kubectl('wait', '--for=condition=Ready=False', ...broken)
  expect(await kubectl('-n', namespace, 'get', 'groupbindings.depot.internal')).toMatch(
    /^broken +"ops" in +False/m,
  )
  await apply([binding('"ops" in groups')])
  await kubectl('wait', '--for=condition=Ready', ...broken)
  await kubectl('-n', namespace, 'delete', 'groupbindings.depot.internal/broken')
})

interface Role {
  readonly rules: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

it('the controller is refused no request, and has no permission that it does not use', async () => {
  const requests = requestsOf('depot-controller')
  const refused = requests.slice(asked).filter(({ responseStatus }) => responseStatus?.code === 403)
  expect(refused).toEqual([])
  const used = new Set(
    requests.map(({ verb, objectRef: { resource = '', subresource } = {} }) =>
      [verb, [resource, subresource].filter(Boolean).join('/')].join(' '),
    ),
  )
  const roles = await Promise.all([
    json<Role>('get', 'clusterrole', 'depot-controller'),
    json<Role>('-n', namespace, 'get', 'role', 'depot-controller'),
  ])
  const granted = roles.flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
  )
  // Single reads are for exceptions: a write conflict, a watch that restarts, a Secret that a resource names.
  const reading = /^(get|list|watch) /
  // These are not separate requests: applying a missing object, and naming an owner that blocks its deletion. Without a grace
  // period for archives, there are no notes about them.
  const implied = /^(create (modules|providers|versions)|update .*\/finalizers|\w+ configmaps)$/
  const unused = granted.filter((one) => !used.has(one))
  expect(unused.filter((one) => !reading.test(one) && !implied.test(one))).toEqual([])
})
