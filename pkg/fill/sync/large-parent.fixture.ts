import type { Objects, StoredObject } from '../../records/store/store.ts'
import { reportOf } from './parent/report.ts'
import { listedVersions } from './parent/versions.ts'
import { writeStatus } from './status.ts'

/** Unusually long versions. */
export const largestVersions = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `${index % 100}.${Math.floor(index / 100)}.0-release.of.the.month`,
  )

/** Writes the status of a Module or Provider whose versions are all stored. */
export async function writeLargestStatus(
  objects: Objects,
  parent: StoredObject,
  versions: readonly string[],
): Promise<void> {
  const { listed } = listedVersions(versions.map((version) => ({ version })))
  const { name } = parent.metadata
  const children = listed.map(({ version }) => ({ version, child: childOf(name, version) }))
  const report = { desired: versions.length, children, retained: 0, skipped: [] }
  const type = parent.kind === 'Module' ? 'Module' : 'Provider'
  await writeStatus({ objects, clock: Date.now }, parent, () => reportOf(type, report))
}

/** A stored Version with the longest possible names. */
function childOf(name: string, version: string): StoredObject {
  const readable = `${name}-${version.replaceAll('.', '-')}`
  return {
    kind: 'Version',
    metadata: {
      name: readable.padEnd(200, 'x'),
      namespace: 'team',
      uid: version,
      resourceVersion: '1',
      generation: 1,
      labels: {},
      annotations: {},
      finalizers: [],
      ownerReferences: [],
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { version },
    status: { synced: true, artifact: { fileName: `${readable}_${'0'.repeat(64)}.tar.gz` } },
  }
}
