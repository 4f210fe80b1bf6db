import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toolPath } from '../../hack/testbed/tools.ts'
import { apply, kubectlHere, namespace, restricted } from './cluster.fixture.ts'

/* An OCI registry in the cluster with a vulnerability database. It counts all other requests. */

export const mirror = `mirror.${namespace}.svc:5000`

/** Answers `/asked` with the other requested paths. */
const script = `
const { readFileSync } = require('node:fs')
const { manifest, blobs } = JSON.parse(readFileSync('/mirror/contents.json', 'utf8'))
const asked = []
require('node:http').createServer(({ url, method }, response) => {
  const send = (type, body) => {
    const bytes = Buffer.from(body, 'base64')
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length })
    response.end(method === 'HEAD' ? undefined : bytes)
  }
  const blob = blobs[url.replace(/^.*\\/blobs\\//, '')]
  if (url === '/v2/') return send('application/json', btoa('{}'))
  if (url.startsWith('/v2/mirror/trivy-db/manifests/')) return send(manifest.type, manifest.body)
  if (blob !== undefined) return send('application/octet-stream', blob)
  if (url === '/asked') return send('application/json', btoa(JSON.stringify(asked)))
  asked.push(url)
  response.writeHead(404).end()
}).listen(5000)
process.on('SIGTERM', () => process.exit())
`

/** A database that lists bbolt as vulnerable, as an artifact of a registry. */
function contents(): string {
  const folder = mkdtempSync(join(tmpdir(), 'depot-kind-mirror-'))
  try {
    execFileSync(toolPath('trivy-db'), [folder, 'v99.0.0'])
    const packed = join(folder, 'db.tar.gz')
    execFileSync('tar', ['-czf', packed, '-C', join(folder, 'db'), 'trivy.db', 'metadata.json'])
    const described = (mediaType: string, bytes: Buffer) => ({
      mediaType,
      digest: `sha256:${hash('sha256', bytes)}`,
      size: bytes.length,
    })
    const layer = readFileSync(packed)
    const config = Buffer.from('{}')
    const type = 'application/vnd.oci.image.manifest.v1+json'
    const db = described('application/vnd.aquasec.trivy.db.layer.v1.tar+gzip', layer)
    const about = described('application/vnd.aquasec.trivy.config.v1+json', config)
    const title = { annotations: { 'org.opencontainers.image.title': 'db.tar.gz' } }
    const layers = [{ ...db, ...title }]
    const manifest = { schemaVersion: 2, mediaType: type, config: about, layers }
    return JSON.stringify({
      manifest: { type, body: Buffer.from(JSON.stringify(manifest)).toString('base64') },
      blobs: {
        [db.digest]: layer.toString('base64'),
        [about.digest]: config.toString('base64'),
      },
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export async function startMirror(): Promise<void> {
  const labels = { app: 'mirror' }
  const metadata = { name: 'mirror', namespace }
  await apply([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { 'mirror.cjs': script, 'contents.json': contents() },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector: labels, ports: [{ port: 5000 }] },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        securityContext: restricted.pod,
        containers: [
          {
            name: 'mirror',
            image: 'docker.io/depot/depot:e2e',
            imagePullPolicy: 'Never',
            command: ['/nodejs/bin/node', '/mirror/mirror.cjs'],
            securityContext: restricted.container,
            readinessProbe: { tcpSocket: { port: 5000 }, periodSeconds: 1 },
            volumeMounts: [{ name: 'mirror', mountPath: '/mirror', readOnly: true }],
          },
        ],
        volumes: [{ name: 'mirror', configMap: { name: 'mirror' } }],
      },
    },
  ])
  await kubectlHere('wait', '--for=condition=Ready', 'pod/mirror', '--timeout=60s')
}

export async function stopMirror(): Promise<void> {
  await kubectlHere(
    'delete',
    'pod/mirror',
    'service/mirror',
    'configmap/mirror',
    '--ignore-not-found',
  )
}
