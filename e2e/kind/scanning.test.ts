import { hash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toolPath } from '../../hack/testbed/tools.ts'
import type { Version } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { zipOf } from '../../pkg/archives/archive/packed.fixture.ts'
import {
  apply,
  kind,
  kubectlHere,
  must,
  namespace,
  read,
  requestsOf,
  run,
  until,
} from './cluster.fixture.ts'
import { mirror, startMirror, stopMirror } from './mirror.fixture.ts'
import { startNetworkPolicies, stopNetworkPolicies } from './network-policies.fixture.ts'
import {
  deleteRecords,
  get,
  install,
  makeNamespace,
  metricOf,
  podsOf,
  startShell,
  store,
  uninstall,
  url,
  versionsOf,
} from './release.fixture.ts'
import { github, hosts, providerSource, startUpstream, stopUpstream } from './upstream.fixture.ts'

/*
 * The chart with scanning: the image with Trivy, a mirror of the database, the source of a provider, and enforced network
 * policies.
 */

const team = 'acme'
const storageConfig = { fileSystem: { directoryPath: 'acme' } }
/** Sources that nobody may contact, in a module that tries to reach all of them. */
const risky = `
module "canary" { source = "http://${mirror}/canary.zip" }
module "git" { source = "git::http://${mirror}/canary.git" }
module "registry" { source = "${mirror}/team/canary/aws" }
resource "aws_security_group_rule" "out" {
  type              = "egress"
  from_port         = 0
  to_port           = 0
  protocol          = "-1"
  cidr_blocks       = ["0.0.0.0/0"] #trivy:ignore:*
  security_group_id = "sg-1"
}
`

const values = (blockOnCritical: boolean) => ({
  server: { anonymousAuth: true },
  controller: {
    enabled: true,
    sourceHosts: hosts,
    egress: { privateCidrs: ['10.0.0.0/8'], caSecretName: 'upstream-ca' },
  },
  networkPolicy: {
    enabled: true,
    // The source repository of the provider uses TLS on another port than 443.
    extraEgress: [{ ports: [{ port: Number(new URL(github.apiUrl).port) }] }],
  },
  scanning: {
    enabled: true,
    blockOnCritical,
    cache: { accessMode: 'ReadWriteOnce', size: '100Mi' },
    workSize: '2Gi',
    resources: { requests: { cpu: '10m' }, limits: { memory: '2Gi' } },
    dbUpdater: {
      repository: `${mirror}/mirror/trivy-db:2`,
      // The mirror uses no TLS.
      extraEnv: [{ name: 'TRIVY_INSECURE', value: 'true' }],
      extraEgress: [{ ports: [{ port: 5000 }] }],
    },
  },
})

/** Copies archives to the claim of the release. */
async function storeArchives(archives: Readonly<Record<string, Buffer>>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-kind-scanning-'))
  for (const [path, bytes] of Object.entries(archives)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  await store(folder)
  rmSync(folder, { recursive: true })
}

const record = (type: string, name: string, spec: object) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: type,
  metadata: { name, namespace: team },
  spec,
})

/** A version whose archive is on the claim. */
const versionOf = (type: 'Module' | 'Provider', version: string, fileName: string, bytes: Buffer) =>
  record('Version', `${type.toLowerCase()}-${version.replaceAll('.', '-')}`, {
    type,
    version,
    upload: { fileName, sha256: hash('sha256', bytes) },
    ...(type === 'Module'
      ? { moduleConfigRef: { name: 'network' } }
      : {
          providerConfigRef: { name: 'random' },
          operatingSystem: 'linux',
          architecture: 'amd64',
        }),
  })

const statusOf = async (name: string): Promise<NonNullable<Version['status']>> =>
  (
    JSON.parse(
      await read(`/apis/depot.internal/v1alpha1/namespaces/${team}/versions/${name}`),
    ) as Version
  ).status ?? {}

/** Whether a pod of Depot can reach an address. */
async function reaches(pod: string, address: string): Promise<boolean> {
  const ask = `fetch(${JSON.stringify(address)}, { signal: AbortSignal.timeout(5000) }).then(() => console.log('yes'), (error) => console.log(String(error.cause?.code ?? error)))`
  return (await kubectlHere('exec', pod, '--', '/nodejs/bin/node', '-e', ask)) === 'yes'
}

const asked = async (): Promise<string[]> =>
  JSON.parse(await read(`/api/v1/namespaces/${namespace}/pods/mirror:5000/proxy/asked`)) as string[]

const scannerPod = async (): Promise<string> => (await podsOf('scanning'))[0] ?? ''

beforeAll(async () => {
  await makeNamespace()
  await makeNamespace(team)
  await deleteRecords()
  await startNetworkPolicies()
  await startMirror()
  const ca = await startUpstream()
  const metadata = { name: 'upstream-ca', namespace }
  await apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'ca.crt': ca } }])
  await install(values(true))
  const [clean, open, provider] = await Promise.all([
    zipOf([{ path: 'main.tf', content: 'output "version" {\n  value = "1.0.0"\n}\n' }]),
    zipOf([{ path: 'main.tf', content: risky }]),
    zipOf([
      {
        path: 'terraform-provider-random_v1.0.0',
        content: readFileSync(toolPath('trivy-db')),
      },
    ]),
  ])
  const provided = 'terraform-provider-random_1.0.0_linux_amd64.zip'
  await storeArchives({
    'acme/network/network-1.0.0.zip': clean,
    'acme/network/network-2.0.0.zip': open,
    [`acme/random/${provided}`]: provider,
  })
  await apply([
    record('Module', 'network', {
      moduleConfig: { name: 'network', provider: 'aws', storageConfig },
      versions: [],
    }),
    record('Provider', 'random', {
      providerConfig: {
        name: 'random',
        namespace: team,
        storageConfig,
        sourceRepository: providerSource,
        githubClientConfig: { apiUrl: github.apiUrl },
      },
      versions: [],
    }),
    versionOf('Module', '1.0.0', 'network-1.0.0.zip', clean),
    versionOf('Module', '2.0.0', 'network-2.0.0.zip', open),
    versionOf('Provider', '1.0.0', provided, provider),
  ])
}, 600_000)
afterAll(async () => {
  await deleteRecords()
  await uninstall()
  await stopMirror()
  await stopUpstream()
  await kubectlHere('delete', 'secret/upstream-ca', '--ignore-not-found')
  await stopNetworkPolicies()
}, 300_000)

it('downloads the database from a mirror with the release, and shows its age', async () => {
  const jobs = ['-l', 'app.kubernetes.io/component=scanning-database']
  await kubectlHere('wait', '--for=condition=Complete', 'job', ...jobs, '--timeout=120s')
  const seconds = await until(
    async () => metricOf(await scannerPod(), 'scan_database_timestamp_seconds'),
    (time) => time > 0,
    120_000,
  )
  expect(Math.abs(seconds * 1000 - Date.now())).toBeLessThan(3_600_000)
})

it('quarantines versions with critical findings, and serves the others', async () => {
  const provider = await until(
    () => statusOf('provider-1-0-0'),
    ({ binaryScan, quarantinedBy }) => binaryScan !== undefined && quarantinedBy !== undefined,
    420_000,
  )
  expect(provider).toMatchObject({
    binaryScan: { findings: [{ vulnerabilityID: 'CVE-2026-0001', severity: 'CRITICAL' }] },
    quarantinedBy: [{ by: 'ScanPolicy', message: expect.stringContaining('CVE-2026-0001') }],
  })
  const module = await until(
    () => statusOf('module-2-0-0'),
    ({ quarantinedBy }) => quarantinedBy !== undefined,
    60_000,
  )
  expect(module.sourceScan?.findings[0]).toMatchObject({
    severity: 'CRITICAL',
    pkgName: 'aws_security_group_rule.out',
  })
  expect((await statusOf('module-1-0-0')).sourceScan?.findings).toEqual([])
  await until(
    () => versionsOf('acme/network/aws'),
    (versions) => JSON.stringify(versions) === '["1.0.0"]',
  )
  const { status, text } = await get(`${url}/depot/modules/v1/acme/network/aws/2.0.0/download`)
  expect({ status, text }).toEqual({ status: 410, text: expect.stringContaining('scans found') })
}, 500_000)

it('finds vulnerable packages in go.mod of a provider, which the controller fetched', async () => {
  const { sourceScan, dependencyScan, artifact, conditions } = await until(
    () => statusOf('provider-1-0-0'),
    ({ dependencyScan: scanned }) => scanned !== undefined,
    180_000,
  )
  expect(artifact?.source).toMatchObject({
    repository: providerSource,
    revision: expect.stringMatching(/^v1\.0\.0@sha1:/),
    fileName: expect.stringMatching(/\.source\.zip$/),
  })
  expect(sourceScan?.findings).toMatchObject([
    { vulnerabilityID: 'CVE-2026-0001', pkgName: 'go.etcd.io/bbolt', installedVersion: 'v1.4.0' },
  ])
  expect(dependencyScan).toMatchObject({
    sha256: artifact?.source?.sha256,
    counts: { critical: 1 },
  })
  expect(conditions).toContainEqual(
    expect.objectContaining({ type: 'SourceScanned', status: 'True', reason: 'Scanned' }),
  )
}, 200_000)

it('contacts none of the sources of a module, and says that its pod may not create network namespaces', async () => {
  expect(await asked()).toEqual([])
  expect(await kubectlHere('logs', await scannerPod())).toContain(
    'scanners share the network of this process, because it may not make network namespaces',
  )
})

it('the policy lets the scanner reach only the API server', async () => {
  const pod = await scannerPod()
  const canary = `http://${mirror}/canary`
  expect({
    mirror: await reaches(pod, canary),
    server: await reaches(pod, `http://depot-server.${namespace}.svc/readyz`),
    metrics: await reaches(pod, `http://depot-server-metrics.${namespace}.svc:9090/metrics`),
  }).toEqual({ mirror: false, server: false, metrics: false })
  expect(await asked()).toEqual([])
  const connect = `require('node:net').connect(443, 'kubernetes.default.svc', () => process.exit())`
  await kubectlHere('exec', pod, '--', '/nodejs/bin/node', '-e', connect)
  // A pod without a policy reaches the same address.
  await startShell('outsider')
  await run('kubectl', ['-n', namespace, 'exec', 'outsider', '--', 'wget', '-q', '-O-', canary])
  expect(await asked()).toEqual(['/canary'])
  await kubectlHere('delete', 'pod', 'outsider', '--wait=false')
})

it('is refused no request, and only requests records and their status', async () => {
  const requests = requestsOf('depot-scanning')
  expect(requests.filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([])
  const used = requests.map(({ verb, objectRef: { resource = '', subresource = '' } = {} }) =>
    [verb, [resource, subresource].filter(Boolean).join('/')].join(' '),
  )
  expect(
    [...new Set(used)].filter((one) => !/^(list|watch) (modules|providers|versions)$/.test(one)),
  ).toEqual(['patch versions/status'])
})

it('scans in an empty network namespace if its seccomp profile allows that', async () => {
  const localhostProfile = 'depot/scanner.json'
  const file = `/var/lib/kubelet/seccomp/${localhostProfile}`
  const profile = JSON.stringify({ defaultAction: 'SCMP_ACT_ALLOW' })
  const write = `mkdir -p ${dirname(file)} && echo '${profile}' >${file}`
  await must('docker', ['exec', kind.node, 'sh', '-c', write])
  const { scanning, ...rest } = values(true)
  const seccompProfile = { type: 'Localhost', localhostProfile }
  await install({ ...rest, scanning: { ...scanning, seccompProfile } })
  // The scan of another archive.
  const bytes = await zipOf([{ path: 'main.tf', content: `${risky}\n` }])
  await storeArchives({ 'acme/network/network-3.0.0.zip': bytes })
  await apply([versionOf('Module', '3.0.0', 'network-3.0.0.zip', bytes)])
  const { sourceScan } = await until(
    () => statusOf('module-3-0-0'),
    (status) => status.sourceScan !== undefined,
    120_000,
  )
  expect(sourceScan?.findings[0]?.severity).toBe('CRITICAL')
  expect(await kubectlHere('logs', await scannerPod())).not.toContain('scanners share the network')
}, 400_000)

it('serves a version again when the policy no longer blocks it', async () => {
  await install(values(false))
  const versions = await until(
    () => versionsOf('acme/network/aws'),
    (found) => Array.isArray(found) && found.length === 3,
    180_000,
  )
  expect(versions).toEqual(['3.0.0', '2.0.0', '1.0.0'])
  const { quarantinedBy, sourceScan } = await statusOf('module-2-0-0')
  expect(quarantinedBy).toBeUndefined()
  expect(sourceScan?.findings[0]?.severity).toBe('CRITICAL')
}, 400_000)
