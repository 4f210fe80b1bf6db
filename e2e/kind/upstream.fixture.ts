import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { createAuthority } from '../../hack/testbed/control-plane/certificates.ts'
import { zipOf } from '../../hack/testbed/registry/archives.ts'
import { shasumsOf } from '../../hack/testbed/upstream/registry.ts'
import { openSigningKeys } from '../../hack/testbed/upstream/signing-keys.ts'
import { apply, kubectlHere, namespace, restricted } from './cluster.fixture.ts'
import type { Upstream } from './upstream/contents.ts'

/* GitHub and a registry as upstreams, in a pod, because the cluster cannot reach the real ones. */

const hostname = `upstream.${namespace}.svc`
const ports = { api: 8441, codeload: 8442, registry: 8443, downloads: 8444 }

export const github = { apiUrl: `https://${hostname}:${ports.api}` }
export const registryHost = `${hostname}:${ports.registry}`
export const hosts = Object.values(ports).map((port) => `${hostname}:${port}`)

/** Platforms of the provider `acme/dns` 1.0.0. */
export const platforms = ['linux_amd64', 'darwin_arm64'] as const

/** The source of a provider with a package that is vulnerable in the database of the mirror. */
export const providerSource = `${github.apiUrl}/acme/terraform-provider-random`
const goMod = 'module example.test/random\n\ngo 1.24\n\nrequire go.etcd.io/bbolt v1.4.0\n'

async function provider(): Promise<Upstream['providers'][number]> {
  const keys = openSigningKeys()
  try {
    const key = keys.create('Acme <acme@example.com>')
    const content = Buffer.from('#!/bin/sh\n')
    const path = 'terraform-provider-dns_v1.0.0'
    const zips = await Promise.all(
      platforms.map(async (platform) => {
        const text = Buffer.concat([content, Buffer.from(platform)])
        return [platform, await zipOf([{ path, content: text, executable: true }])] as const
      }),
    )
    const release = { address: 'acme/dns', version: '1.0.0', platforms: Object.fromEntries(zips) }
    return {
      ...release,
      platforms: Object.fromEntries(zips.map(([name, zip]) => [name, zip.toString('base64')])),
      key: { fingerprint: key.fingerprint, armored: key.armored },
      signature: key.sign(shasumsOf(release)).toString('base64'),
    }
  } finally {
    keys.close()
  }
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'upstream/upstream.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minify: true,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire('/')",
    },
  })
  return outputFiles[0]?.text ?? ''
}

/** Starts them. @returns the certificate of their authority, PEM */
export async function startUpstream(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-kind-upstream-'))
  const authority = createAuthority(folder)
  const { cert, key } = authority.server('upstream', [hostname])
  rmSync(folder, { recursive: true })
  const contents: Upstream = {
    hostname,
    ports,
    tags: [
      ...['1.0.0', '1.1.0', '2.0.0'].map((version) => ({
        repository: 'acme/vpc',
        tag: `v${version}`,
        files: { 'main.tf': `output "version" {\n  value = "${version}"\n}\n` },
      })),
      { repository: 'acme/terraform-provider-random', tag: 'v1.0.0', files: { 'go.mod': goMod } },
    ],
    providers: [await provider()],
  }
  const labels = { app: 'upstream' }
  await apply([
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'upstream', namespace },
      stringData: {
        'tls.crt': cert,
        'tls.key': key,
        'contents.json': JSON.stringify(contents),
        'upstream.mjs': await bundle(),
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'upstream', namespace },
      spec: {
        selector: labels,
        ports: Object.entries(ports).map(([name, port]) => ({ name, port })),
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'upstream', namespace, labels },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        securityContext: restricted.pod,
        containers: [
          {
            name: 'upstream',
            image: 'docker.io/depot/depot:e2e',
            imagePullPolicy: 'Never',
            command: ['/nodejs/bin/node', '/upstream/upstream.mjs', '/upstream'],
            securityContext: restricted.container,
            readinessProbe: { tcpSocket: { port: ports.downloads }, periodSeconds: 1 },
            volumeMounts: [{ name: 'upstream', mountPath: '/upstream', readOnly: true }],
          },
        ],
        volumes: [{ name: 'upstream', secret: { secretName: 'upstream' } }],
      },
    },
  ])
  await kubectlHere('wait', '--for=condition=Ready', 'pod/upstream', '--timeout=60s')
  return authority.cert
}

export async function stopUpstream(): Promise<void> {
  const all = ['pod/upstream', 'service/upstream', 'secret/upstream']
  await kubectlHere('delete', ...all, '--ignore-not-found')
}
