import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAllDocuments } from 'yaml'
import type { ApiClient } from './request.ts'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly data?: Readonly<Record<string, string>>
  readonly status?: unknown
}

/** The kinds that have to exist before the others. */
const first = ['CustomResourceDefinition', 'Namespace', 'ServiceAccount']

/**
 * Applies every object of YAML files or folders to a cluster, status included, as a controller would have written it. Makes
 * the namespaces that objects are in.
 *
 * @returns how many objects
 */
export async function applyManifests(api: ApiClient, ...paths: readonly string[]): Promise<number> {
  const manifests = paths
    .flatMap((path) =>
      statSync(path).isDirectory()
        ? globSync('**/*.yaml', { cwd: path }).map((file) => join(path, file))
        : path,
    )
    .flatMap((file) =>
      parseAllDocuments(readFileSync(file, 'utf8')).map((it) => it.toJSON() as unknown),
    )
    .filter(isManifest)
    .toSorted((a, b) => rank(a) - rank(b))
  const namespaces = new Set(manifests.map(({ metadata }) => metadata.namespace))
  const crds = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition')
  for (const manifest of crds) await applyManifest(api, manifest)
  for (const { metadata } of crds) await untilEstablished(api, metadata.name)
  for (const name of namespaces) {
    if (name !== undefined) await api.send('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  for (const manifest of manifests) if (!crds.includes(manifest)) await applyManifest(api, manifest)
  return manifests.length
}

/** Applies what a controller owns: of an object with a status only that, of any other all of it. */
export async function applyAsController(
  api: ApiClient,
  manifests: readonly Manifest[],
): Promise<void> {
  for (const manifest of manifests) {
    const path = await pathOf(api, manifest)
    await api.apply(manifest.status === undefined ? path : `${path}/status`, manifest, 'controller')
  }
}

async function applyManifest(api: ApiClient, manifest: Manifest): Promise<void> {
  const path = await pathOf(api, manifest)
  await api.apply(path, manifest)
  if (manifest.status !== undefined) await api.apply(`${path}/status`, manifest)
}

async function pathOf(api: ApiClient, { apiVersion, kind, metadata }: Manifest): Promise<string> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const { resources } = (await api.request('GET', root)) as {
    resources: readonly { name: string; kind: string; namespaced: boolean }[]
  }
  const found = resources.find((it) => it.kind === kind && !it.name.includes('/'))
  if (found === undefined) throw new Error(`the cluster has no ${kind} in ${apiVersion}`)
  const scope = found.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : ''
  return `${root}${scope}/${found.name}/${metadata.name}`
}

interface Definition {
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; message: string }[]
  }
}

/** Waits until a custom resource can be used. */
async function untilEstablished(api: ApiClient, name: string): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`
  const deadline = performance.now() + 20_000
  for (;;) {
    const { status } = (await api.request('GET', path)) as Definition
    const conditions = status?.conditions ?? []
    if (conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')) return
    if (performance.now() > deadline) {
      throw new Error(`${name} is not established: ${JSON.stringify(conditions)}`)
    }
    await sleep(50)
  }
}

function rank({ kind }: Manifest): number {
  const index = first.indexOf(kind)
  return index < 0 ? first.length : index
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false
  const { kind, metadata } = value as Partial<Manifest>
  return typeof kind === 'string' && kind !== 'Kustomization' && metadata?.name !== undefined
}
