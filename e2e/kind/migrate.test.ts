import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Workspace } from '../../hack/testbed/cli/cli.ts'
import { sampleStatus } from '../../hack/testbed/control-plane/sample-status.ts'
import { apply, kind, kubectl, must, requestsOf } from './cluster.fixture.ts'
import {
  fillClaim,
  install,
  makeNamespace,
  podsOf,
  uninstall,
  untilServed,
  upgrade,
  url,
} from './release.fixture.ts'

/* Moving from another registry: the chart reports its values by name, and its records are served in their own group. */

const group = 'registry.example.com'
const repository = join(import.meta.dirname, '../..')
const theirs = (text: string): string => text.replaceAll('depot.internal', group)
const manifests = (pattern: string): string =>
  globSync(join(repository, pattern))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n---\n')

/** Values for the other registry, with names that were removed. */
const oldValues = {
  dex: { enabled: true, config: { issuer: 'https://registry.example.com/dex' } },
  version: { replicaCount: 1, resources: { limits: { memory: '2Gi' } } },
  module: { enabled: true },
  server: { zapLogLevel: 5, anonymousAuth: true, oidc: { dexProxy: { enabled: true } } },
  ui: { nginx: { preserveHostPort: true } },
}

/** The same with the names from the messages, next to the existing definitions and records. */
const newValues = {
  apiGroup: group,
  crds: { install: false },
  server: { anonymousAuth: true, logLevel: 'debug' },
}

beforeAll(async () => {
  await makeNamespace()
  await uninstall()
  await must(
    'kubectl',
    ['apply', '--server-side', '-f', '-'],
    theirs(manifests('config/crd/bases/*.yaml')),
  )
  const definitions = ['modules', 'versions', 'depots'].map((one) => `crd/${one}.${group}`)
  await kubectl('wait', '--for=condition=Established', '--timeout=60s', ...definitions)
  const records = theirs(manifests('config/samples/{namespaces,network}.yaml'))
  await must('kubectl', ['apply', '--server-side', '-f', '-'], records)
  const statuses = sampleStatus(kind.archives).filter(
    ({ kind: one, metadata }) => one !== 'ConfigMap' && metadata.name.startsWith('network'),
  )
  await apply(JSON.parse(theirs(JSON.stringify(statuses))) as object[], { status: true })
})
afterAll(async () => {
  await uninstall()
  for (const one of ['modules', 'providers', 'versions', 'depots', 'groupbindings'])
    await kubectl('delete', 'crd', `${one}.${group}`, '--ignore-not-found')
})

it('refuses all previous values at once, each with its new name', async () => {
  const { code, stderr } = await upgrade(oldValues, { wait: false })
  expect(code).toBe(1)
  for (const message of [
    'V31 dex is now broker; see docs/migrating.md',
    'V31 the path /dex of dex.config.issuer is now /broker',
    'V31 version.replicaCount is now controller.replicaCount',
    'V31 version.resources is now controller.resources',
    'V31 module.enabled is now controller.enabled',
    'V31 server.oidc.dexProxy is now server.oidc.brokerProxy',
    'V31 server.zapLogLevel is now server.logLevel',
    'V31 ui.nginx is now removed',
  ])
    expect(stderr).toContain(message)
})

it('with the new names, its records can be installed, in their own group', async () => {
  await install(newValues)
  await fillClaim()
  await untilServed()
  const source =
    'module "network" {\n  source  = "depot.test/platform/network/aws"\n  version = "2.0.0"\n}\n'
  const workspace = new Workspace(kind.tools.terraform, url, source)
  await workspace.must('init')
  expect(workspace.modules()['network']?.version).toBe('2.0.0')
  const test = ['test', 'depot', '-n', 'depot-system', '--timeout', '90s']
  expect(await must(kind.tools.helm, test)).toContain('Succeeded')
})

it('reads only that group, and is refused nothing', async () => {
  const requests = requestsOf('depot-server', await podsOf('server'))
  const refused = requests.filter(({ responseStatus }) => responseStatus?.code === 403)
  expect(refused).toEqual([])
  const lists = requests.map(({ requestURI }) => requestURI)
  expect(lists.some((uri) => uri.startsWith(`/apis/${group}/`))).toBe(true)
  expect(lists.filter((uri) => uri.startsWith('/apis/depot.internal/'))).toEqual([])
})
