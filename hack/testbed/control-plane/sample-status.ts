import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Version } from '../../../pkg/api/v1alpha1/v1alpha1.ts'
import { sampleDocs } from '../../sample-docs.ts'
import { parentName, pathOf, sampleVersions, sourcesOf } from '../../samples.ts'
import type { Manifest } from './manifests.ts'

const apiVersion = 'depot.internal/v1alpha1'
const done = { synced: true, syncStatus: 'Successfully synced' }
const readmeKey = 'README.md'

/**
 * The statuses that a controller adds to config/samples: that of each Version and of its parent, and a
 * ConfigMap for the README of each Version that has one.
 *
 * @param archives the folder that the samples were built into
 */
export function sampleStatus(archives: string): Manifest[] {
  return sampleVersions().flatMap((version) => {
    const { name, namespace } = version.metadata
    const readme = readmeOf(version)
    const content = readFileSync(join(archives, pathOf(version)))
    const docs = sampleDocs(archives, version)
    const status = {
      ...done,
      checksum: hash('sha256', content, 'base64'),
      archiveSizeBytes: content.length,
      ...(docs && { artifact: { docs } }),
      ...(readme && { readmeConfigMapRef: { name: readme.metadata.name, key: readmeKey } }),
    }
    const parent = { name: parentName(version), namespace }
    return [
      ...(readme === undefined ? [] : [readme]),
      { apiVersion, kind: 'Version', metadata: { name, namespace }, status },
      { apiVersion, kind: version.spec.type, metadata: parent, status: done },
    ]
  })
}

function readmeOf(version: Version): Manifest | undefined {
  const file = join(sourcesOf(version), 'README.md')
  if (!existsSync(file)) return undefined
  const { name, namespace } = version.metadata
  const labels = { 'depot.internal/readme': 'true' }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `readme-${name}`, namespace, labels },
    data: { [readmeKey]: readFileSync(file).toString('base64') },
  }
}
