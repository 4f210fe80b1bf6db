import { stringify } from 'yaml'
import { customResourceKinds, type Version } from '../../api/v1alpha1/v1alpha1.ts'
import { ifFound } from '../../base/errors/errors.ts'
import { type Api, pathOf } from '../kube/kube.ts'
import type { BackedUp } from './record.ts'

export interface SaveOptions {
  readonly api: Api
  readonly apiGroup: string
  /** Empty for all. */
  readonly namespaces: readonly string[]
  /** Time of the backup. */
  readonly now: Date
}

/** Fields that the API server adds, or that only it may set. */
const own = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
])
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** The last line of a backup, which shows that it is complete. */
const endOf = (count: number): string => `# end of backup, ${count} objects\n`

/** Formats every record with its status, the READMEs that records name, and the labels of their namespaces, as YAML. */
export async function save({ api, apiGroup, namespaces, now }: SaveOptions): Promise<string> {
  const records: BackedUp[] = []
  for (const kind of customResourceKinds) {
    for (const namespace of namespaces.length === 0 ? [undefined] : namespaces) {
      for (const item of await api.list(pathOf({ kind, namespace }, apiGroup))) {
        records.push({ ...cleaned(item), apiVersion: `${apiGroup}/v1alpha1`, kind })
      }
    }
  }
  const wanted = new Set(records.flatMap(readmesOf))
  // A README may have been deleted since the Version was read.
  const found = [...wanted].map((path) => ifFound(api.request('GET', path)))
  const readmes = (await Promise.all(found)).filter((readme) => readme !== undefined)
  const places = new Set(records.flatMap(({ metadata }) => metadata.namespace ?? []))
  const homes = await Promise.all(
    [...places]
      .toSorted()
      .map((name) => api.request('GET', pathOf({ kind: 'Namespace', name }, ''))),
  )
  const objects = [
    ...homes.map((item) => ({
      ...withoutSpec(cleaned(item)),
      apiVersion: 'v1',
      kind: 'Namespace' as const,
    })),
    ...readmes.map((item) => ({ ...cleaned(item), apiVersion: 'v1', kind: 'ConfigMap' as const })),
    ...records,
  ]
  const documents = objects.map((object) =>
    stringify(sorted(object), { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }),
  )
  const title = `# Backup of ${apiGroup}, ${now.toISOString()}\n`
  return `${title}${documents.join('---\n')}${endOf(objects.length)}`
}

function readmesOf({ metadata: { namespace }, status }: BackedUp): string[] {
  if (namespace === undefined) return []
  const { readmeConfigMapRef, interfaceConfigMapRef } = (status ?? {}) as NonNullable<
    Version['status']
  >
  return [readmeConfigMapRef, interfaceConfigMapRef].flatMap((ref) =>
    ref?.name === undefined ? [] : [pathOf({ kind: 'ConfigMap', namespace, name: ref.name }, '')],
  )
}

function cleaned(item: unknown): BackedUp {
  const { metadata, ...rest } = item as BackedUp
  const kept = Object.entries(metadata).filter(([key]) => !own.has(key))
  const { annotations, ...others } = Object.fromEntries(kept) as BackedUp['metadata']
  const notes = Object.entries(annotations ?? {}).filter(([key]) => key !== lastApplied)
  return {
    ...rest,
    metadata: { ...others, ...(notes.length > 0 && { annotations: Object.fromEntries(notes) }) },
  }
}

function withoutSpec({ metadata, apiVersion, kind }: BackedUp): BackedUp {
  const { finalizers: _, ...rest } = metadata
  return { apiVersion, kind, metadata: rest }
}

/** Sorts fields in the order of manifests. */
function sorted({ apiVersion, kind, metadata, ...rest }: BackedUp): object {
  return { apiVersion, kind, metadata, ...rest }
}
