import { createHash } from 'node:crypto'
import type { Registry } from '../../hack/testbed/registry/registry.ts'
import { docsFileName } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { PageCollector } from '../../pkg/archives/docs/docs.ts'

/** Pages by path. Without any, the version has no documentation. */
export type ProviderVersion = readonly [
  version: string,
  pages: Readonly<Record<string, string>> | undefined,
]

/** Writes a provider of the namespace platform with the documentation that sync creates. */
export async function writeProvider(
  registry: Registry,
  name: string,
  versions: readonly ProviderVersion[],
  status: object = {},
): Promise<void> {
  const apiVersion = 'depot.internal/v1alpha1'
  const metadata = { namespace: 'platform', name }
  const storageConfig = { fileSystem: { directoryPath: 'providers' } }
  const objects = versions.map(async ([version, pages]) => {
    const fileName = `${name}-${version}.zip`
    const checksum = createHash('sha256').update(version).digest('hex')
    const docs = pages && (await docsOf(pages))
    if (docs) registry.archive(`providers/${name}/${docsFileName(fileName, checksum)}`, docs.bytes)
    const platform = { operatingSystem: 'linux', architecture: 'amd64' }
    return {
      apiVersion,
      kind: 'Version',
      metadata: { ...metadata, name: `${name}-${version}` },
      spec: { type: 'Provider', version, fileName, ...platform, providerConfigRef: { name } },
      status: {
        synced: true,
        checksum,
        artifact: {
          fileName,
          ...(docs && { docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes } }),
        },
      },
    }
  })
  const spec = { providerConfig: { storageConfig } }
  registry.write(`${name}.yaml`, [
    { apiVersion, kind: 'Provider', metadata, spec, status },
    ...(await Promise.all(objects)),
  ])
}

function docsOf(pages: Readonly<Record<string, string>>) {
  const collector = new PageCollector()
  for (const [path, text] of Object.entries(pages)) collector.take(path)?.(Buffer.from(text))
  return collector.packed()
}
