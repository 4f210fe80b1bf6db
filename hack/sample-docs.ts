import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { type ArchiveDocs, docsFileName, type Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { defaultLimits } from '../pkg/archives/archive/archive.ts'
import { packedDocsOf } from '../pkg/archives/docs/docs.ts'
import { pathOf, replace, samples, sampleVersions } from './samples.ts'

/**
 * Fills a folder of manifests with a link to config/samples, whose files can be edited while a server runs, and with the
 * statuses that name the documentation of its modules. The documentation is stored next to the archives, as a sync does.
 *
 * @param archives the folder that the samples were built into
 */
export async function documentSamples(archives: string, manifests: string): Promise<void> {
  mkdirSync(manifests, { recursive: true })
  const modules = sampleVersions().filter(({ spec }) => spec.type === 'Module')
  const statuses = await Promise.all(modules.map((version) => documentedStatus(archives, version)))
  const text = statuses.map((status) => stringify(status)).join('---\n')
  replace(join(manifests, 'samples.status.yaml'), Buffer.from(text))
  const link = join(manifests, 'samples')
  rmSync(link, { force: true })
  symlinkSync(samples, link)
}

async function documentedStatus(archives: string, version: Version): Promise<object> {
  const file = join(archives, pathOf(version))
  const archive = { file, limits: defaultLimits.module, scratch: `${file}.scratch` }
  replace(docsFileOf(file), (await packedDocsOf(archive)).bytes)
  const { name, namespace } = version.metadata
  return {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Version',
    metadata: { name, namespace },
    status: { ...version.status, artifact: { docs: sampleDocs(archives, version) } },
  }
}

/** The stored documentation of a sample, as its status names it; undefined unless `documentSamples` made it. */
export function sampleDocs(archives: string, version: Version): ArchiveDocs | undefined {
  const file = docsFileOf(join(archives, pathOf(version)))
  if (!existsSync(file)) return undefined
  const bytes = readFileSync(file)
  return { sha256: hash('sha256', bytes), sizeBytes: bytes.length }
}

const docsFileOf = (archive: string): string =>
  join(dirname(archive), docsFileName(basename(archive), hash('sha256', readFileSync(archive))))
