import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'minio'
import { readKey } from 'openpgp'
import { beforeAll, expect, it } from 'vitest'
import { generateSigningKey } from '../../pkg/archives/signing/signing.ts'
import { apply, kind, kubectlHere, namespace, until } from './cluster.fixture.ts'
import {
  download,
  get,
  install,
  makeNamespace,
  metricOf,
  podsOf,
  prepare,
  startShell,
  url,
} from './release.fixture.ts'

/* Archives on a claim and in an S3 server of the cluster, and signing keys that are added and replaced. */

const region = 'eu-west-1'
const apiVersion = 'depot.internal/v1alpha1'
const archive = readFileSync(join(kind.archives, 'modules/network/network-2.0.0.zip'))
const credentials = {
  AWS_ACCESS_KEY_ID: 'depot-e2e',
  AWS_SECRET_ACCESS_KEY: 'a-secret-of-the-suite',
}
const s3Host = `s3.${namespace}.svc:7070`

/** A module whose archives are in the bucket. */
function inBucket(name: string, presign: boolean): object[] {
  const storageConfig = {
    s3: { bucket: 'archives', region },
    presign: { enabled: presign },
  }
  const moduleConfig = { name, provider: 'aws', fileFormat: 'zip', storageConfig }
  const metadata = { name, namespace: 'platform', labels: { 'depot.internal/public': 'true' } }
  const version = { type: 'Module', version: '1.0.0', fileName: '1.zip', moduleConfigRef: { name } }
  return [
    { apiVersion, kind: 'Module', metadata, spec: { moduleConfig } },
    {
      apiVersion,
      kind: 'Version',
      metadata: { ...metadata, name: `${name}-1.0.0` },
      spec: version,
    },
  ]
}
const statusOf = (name: string): object => ({
  apiVersion,
  kind: 'Version',
  metadata: { name: `${name}-1.0.0`, namespace: 'platform' },
  status: {
    synced: true,
    syncStatus: 'Successfully synced',
    checksum: hash('sha256', archive, 'base64'),
    archiveSizeBytes: archive.length,
  },
})

beforeAll(async () => {
  await makeNamespace()
  await startShell('s3', {
    command: [
      'sh',
      '-c',
      `mkdir -p /data/store && exec versitygw --port :7070 --region ${region} posix /data/store`,
    ],
    env: {
      ROOT_ACCESS_KEY: credentials.AWS_ACCESS_KEY_ID,
      ROOT_SECRET_KEY: credentials.AWS_SECRET_ACCESS_KEY,
    },
  })
  await apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's3', namespace },
      spec: {
        type: 'NodePort',
        selector: { app: 's3' },
        ports: [{ port: 7070, nodePort: 30_002 }],
      },
    },
  ])
  const store = new Client({
    endPoint: '127.0.0.1',
    port: kind.ports[2] ?? 0,
    useSSL: false,
    accessKey: credentials.AWS_ACCESS_KEY_ID,
    secretKey: credentials.AWS_SECRET_ACCESS_KEY,
    region,
  })
  await until(
    () => store.listBuckets(),
    () => true,
  )
  await store.makeBucket('archives', region)
  for (const name of ['bucketed', 'unread', 'presigned'])
    await store.putObject('archives', `${name}/1.zip`, archive)
  await install({
    server: {
      anonymousAuth: true,
      presignModules: true,
      extraEnv: [
        ...Object.entries(credentials).map(([name, value]) => ({ name, value })),
        { name: 'DEPOT_S3_ENDPOINT', value: `http://${s3Host}` },
      ],
    },
  })
  await prepare()
  await apply([
    ...inBucket('bucketed', false),
    ...inBucket('unread', false),
    ...inBucket('presigned', true),
  ])
  await apply([statusOf('bucketed'), statusOf('unread'), statusOf('presigned')], { status: true })
})

it('archives of a claim and of a bucket are served', async () => {
  expect(await download('platform/network/aws', '1.0.0')).toBe(200)
  await until(
    () => download('platform/bucketed/aws', '1.0.0'),
    (status) => status === 200,
  )
})

it('a pre-signed download redirects to the bucket, which has the same bytes', async () => {
  const found = await until(
    () => get(`${url}/depot/modules/v1/platform/presigned/aws/1.0.0/download`),
    ({ status }) => status === 204,
  )
  const { status, headers } = await get(new URL(String(found.headers['x-terraform-get']), url).href)
  expect(status).toBe(307)
  const signed = new URL(String(headers['location']))
  expect(signed.host).toBe(s3Host)
  const address = `http://127.0.0.1:${kind.ports[2]}${signed.pathname}${signed.search}`
  const { bytes } = await get(address, { host: s3Host })
  expect(bytes.equals(archive)).toBe(true)
})

it('storage unavailable: archives of the claim are served, those of the bucket answer with a time to retry', async () => {
  // kubectl waits until the process has ended.
  await kubectlHere('delete', 'pod', 's3', '--grace-period=1', '--ignore-not-found')
  const found = await get(`${url}/depot/modules/v1/platform/unread/aws/1.0.0/download`)
  expect(found.status).toBe(204)
  const location = new URL(String(found.headers['x-terraform-get']), url)
  const { status, headers } = await get(location.href)
  expect([503, 504]).toContain(status)
  expect(headers['retry-after']).toBeDefined()
  const [pod = ''] = await podsOf('server')
  expect(await metricOf(pod, 'storage_errors_total', 'backend="s3"')).toBeGreaterThan(0)
  expect(await download('platform/network/aws', '2.0.0')).toBe(200)
})

it('a signing key is added and replaced without a restart', async () => {
  const keyOf = async (): Promise<string> => {
    const path = 'platform/hello/1.1.0/download/linux/amd64'
    const { text } = await get(`${url}/depot/providers/v1/${path}`)
    const { signing_keys: keys } = JSON.parse(text) as {
      signing_keys?: { gpg_public_keys: { key_id: string }[] }
    }
    return keys?.gpg_public_keys[0]?.key_id ?? ''
  }
  const secretWith = async (): Promise<string> => {
    const privateKey = await generateSigningKey({ name: 'Depot e2e', email: 'e2e@example.com' })
    const metadata = { name: 'signing', namespace }
    await apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { privateKey } }])
    const key = await readKey({ armoredKey: privateKey })
    return key.getKeyID().toHex().toUpperCase()
  }
  const first = await secretWith()
  await install({ server: { anonymousAuth: true, gpg: { secretName: 'signing' } } })
  expect(await keyOf()).toBe(first)
  const second = await secretWith()
  expect(second).not.toBe(first)
  // The kubelet updates mounted Secrets of a changed pod at once, and of others within a minute or two.
  const servers = 'app.kubernetes.io/component=server'
  const touch = (): Promise<string> =>
    kubectlHere('annotate', 'pod', '-l', servers, '--overwrite', `touched=${Date.now()}`)
  await until(
    () => touch().then(keyOf),
    (key) => key === second,
    120_000,
  )
  expect(await keyOf()).toBe(second)
})
