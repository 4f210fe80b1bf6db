import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ProvidedContext } from 'vitest'
import type { TestProject } from 'vitest/node'
import { buildSamples } from '../../hack/samples.ts'
import { freePorts } from '../../hack/testbed/ports.ts'

declare module 'vitest' {
  interface ProvidedContext {
    readonly kind: {
      readonly kubeconfig: string
      /** The address of the API without TLS and credentials. A request costs a hundredth of a start of kubectl. */
      readonly api: string
      /** The requests of service accounts to the API server, one JSON object a line. */
      readonly auditLog: string
      /** Ports of 127.0.0.1 that are forwarded to NodePort 30000 to 30003. */
      readonly ports: readonly number[]
      /** The archives of config/samples. */
      readonly archives: string
      /** Name of the node's container. */
      readonly node: string
      readonly dockerHost: string
      /** The image under test. */
      readonly image: {
        readonly archive: string
        /** The image under test with git. */
        readonly gitArchive: string
        /** The image under test with Trivy. */
        readonly scanningArchive: string
        /** The variables of its build. */
        readonly settings: Readonly<Record<string, string>>
      }
      readonly tools: Readonly<Record<'contour' | 'helm' | 'helm3' | 'terraform' | 'tofu', string>>
    }
  }
}

const repository = join(import.meta.dirname, '../..')
const hack = (name: string): string => join(repository, 'hack', name)

/** Another name lets two suites run on one machine. */
const name = process.env['DEPOT_E2E_CLUSTER'] ?? 'depot-e2e'

/** Keeps the cluster for the next run, and uses an existing one with its images. */
const keep = process.env['DEPOT_E2E_KEEP'] === 'true'

async function output(program: string, args: readonly string[], env = {}): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, args, {
    cwd: repository,
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
  })
  if (stderr.includes('depot:')) process.stderr.write(stderr)
  return stdout.trim()
}

/** Creates the cluster and the images at the same time, then loads the images into the cluster. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const began = Date.now()
  const say = (what: string): void =>
    console.log(`e2e: ${what} after ${Math.round((Date.now() - began) / 1000)} s`)
  const archives = mkdtempSync(join(tmpdir(), 'depot-e2e-archives-'))
  const dockerHost = await output(hack('kind/engine'), ['start'])
  const nodeImage = await output(hack('kind/node-image'), [], { DOCKER_HOST: dockerHost })
  const image = {
    archive: join(repository, '.depot/image/e2e.tar'),
    gitArchive: join(repository, '.depot/image/e2e-git.tar'),
    scanningArchive: join(repository, '.depot/image/e2e-scanning.tar'),
    settings: {
      TAG: 'docker.io/depot/depot:e2e',
      BASES: nodeImage === '' ? '' : 'local',
      SOURCE: 'https://git.example.com/depot',
    },
  }
  const kept = keep ? await keptCluster(dockerHost) : undefined
  const cluster = kept ?? (await newCluster(image, say))
  await buildSamples(archives)
  const tools = await Promise.all(
    (['contour', 'helm', 'helm3', 'terraform', 'tofu'] as const).map(
      async (tool) => [tool, await output(hack('tool'), [tool])] as const,
    ),
  )
  const kubeconfig = join(cluster.folder, 'kubeconfig')
  const { proxy, api } = await startProxy(kubeconfig)
  provide('kind', {
    kubeconfig,
    api,
    auditLog: join(cluster.folder, 'audit/log'),
    ports: cluster.ports,
    archives,
    node: `${name}-control-plane`,
    dockerHost,
    image,
    tools: Object.fromEntries(tools) as Record<(typeof tools)[number][0], string>,
  })
  return () => {
    proxy.kill()
    rmSync(archives, { recursive: true, force: true })
    if (!keep) execFileSync(hack('kind/cluster'), ['delete', name], { stdio: 'inherit' })
  }
}

/** `kubectl proxy`, which adds the credentials to requests. */
async function startProxy(kubeconfig: string): Promise<{ proxy: ChildProcess; api: string }> {
  const flags = ['--kubeconfig', kubeconfig, 'proxy', '--port=0']
  // It would print an error for each request while a test has no API server.
  const proxy = spawn('kubectl', flags, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(proxy, 'exit').then(([status]) => `kubectl proxy ended with ${String(status)}`)
  const [line] = await Promise.race([once(proxy.stdout, 'data'), ended.then((text) => [text])])
  const [address] = /127\.0\.0\.1:\d+/.exec(String(line)) ?? []
  if (address === undefined) throw new Error(String(line))
  return { proxy, api: `http://${address}` }
}

type Cluster = { readonly folder: string; readonly ports: readonly number[] }

type Image = ProvidedContext['kind']['image']

/** Builds the plain image, then the others, which share most of its steps. */
async function buildImages(image: Image): Promise<void> {
  const variants = { '': image.archive, git: image.gitArchive, scanning: image.scanningArchive }
  for (const [VARIANT, ARCHIVE] of Object.entries(variants)) {
    await output(hack('image/image'), [], { ...image.settings, ARCHIVE, VARIANT })
  }
}

async function newCluster(image: Image, say: (what: string) => void): Promise<Cluster> {
  await output(hack('kind/cluster'), ['delete', name])
  const ports = await freePorts(4)
  const [folder, workloads] = await Promise.all([
    output(hack('kind/cluster'), ['create', name, ...ports.map(String)]),
    output(hack('kind/workloads'), []),
    buildImages(image),
  ])
  say('a cluster and all images')
  const archives = [
    image.archive,
    image.gitArchive,
    image.scanningArchive,
    ...workloads.split('\n'),
  ]
  await output(hack('kind/cluster'), ['load', name, ...archives])
  say('images in the cluster')
  return { folder, ports }
}

/** The cluster of an earlier run; undefined if there is none. */
async function keptCluster(dockerHost: string): Promise<Cluster | undefined> {
  const env = { DOCKER_HOST: dockerHost }
  const lines = await output('docker', ['port', `${name}-control-plane`], env).catch(() => '')
  if (lines === '') return undefined
  const ports = [30_000, 30_001, 30_002, 30_003].map((port) =>
    Number(new RegExp(`^${port}/tcp -> 127.0.0.1:(\\d+)$`, 'm').exec(lines)?.[1]),
  )
  return { folder: await output(hack('kind/cluster'), ['folder', name]), ports }
}
