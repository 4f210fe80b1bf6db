import { createHash } from 'node:crypto'
import { startExplorer } from '../../hack/testbed/explorer/explorer.ts'
import { Registry } from '../../hack/testbed/registry/registry.ts'
import { startServer } from '../../hack/testbed/server/server.ts'
import { docsFileName } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { packedDocs } from '../../pkg/archives/docs/docs.ts'
import { launchBrowser } from './browser.fixture.ts'

/** A version and its main.tf, or all of its files by path. Without files, it has no documentation. */
export type DocumentedVersion = readonly [
  version: string,
  source: string | Readonly<Record<string, string>> | undefined,
  status?: object,
]

/** Writes a module of the namespace network with the documentation that sync creates. */
async function writeDocumented(
  registry: Registry,
  name: string,
  sources: readonly DocumentedVersion[],
): Promise<void> {
  const apiVersion = 'depot.internal/v1alpha1'
  const metadata = { namespace: 'network', name }
  const storageConfig = { fileSystem: { directoryPath: 'modules' } }
  const versions = sources.map(async ([version, source, status]) => {
    const fileName = `${name}-${version}.zip`
    const checksum = createHash('sha256').update(version).digest('hex')
    const files = typeof source === 'string' ? { 'README.md': readme, 'main.tf': source } : source
    const docs = files && (await docsOf(files))
    if (docs) registry.archive(`modules/${name}/${docsFileName(fileName, checksum)}`, docs.bytes)
    return {
      apiVersion,
      kind: 'Version',
      metadata: { ...metadata, name: `${name}-${version}` },
      spec: { type: 'Module', version, fileName, moduleConfigRef: { name } },
      status: {
        synced: true,
        checksum,
        artifact: {
          fileName,
          revision: `v${version}@sha1:${'0'.repeat(40)}`,
          ...(docs && { docs: { sha256: docs.sha256, sizeBytes: docs.sizeBytes } }),
        },
        ...status,
      },
    }
  })
  const repoUrl = 'https://github.com/acme/network'
  const spec = { moduleConfig: { provider: 'aws', repoUrl, storageConfig } }
  registry.write(`${name}.yaml`, [
    { apiVersion, kind: 'Module', metadata, spec },
    ...(await Promise.all(versions)),
  ])
}

/** Starts a registry of such modules, its explorer, and a browser. */
export const showDocumented = (modules: Readonly<Record<string, readonly DocumentedVersion[]>>) =>
  showRegistry(async (registry) => {
    for (const [name, sources] of Object.entries(modules))
      await writeDocumented(registry, name, sources)
  })

/** Starts a registry, its explorer, and a browser. @param fill writes its manifests and archives */
export async function showRegistry(fill: (registry: Registry) => Promise<void>) {
  const stops = new AsyncDisposableStack()
  const registry = new Registry()
  stops.defer(() => registry.remove())
  await fill(registry)
  const server = await startServer(registry)
  stops.defer(async () => void (await server.stop()))
  const explorer = await startExplorer({ serverUrl: server.url, flags: [] })
  stops.defer(async () => void (await explorer.stop()))
  const browser = await launchBrowser()
  stops.defer(() => browser.close())
  return { browser, url: explorer.url, close: () => stops.disposeAsync() }
}

const readme = `# Network

Read [the guide](docs/guide.md).

> [!WARNING]
> Subnets are never removed.

| Name | Type |
|------|------|
| subnets | <pre>map(object({<br>    cidr = string<br>  }))</pre> |
`

function docsOf(files: Readonly<Record<string, string>>) {
  const entries = Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
  const listed = entries.map(({ path, bytes }) => ({ path, sizeBytes: bytes.length }))
  return packedDocs(listed, async function* (wanted) {
    const { bytes } = entries.find(({ path }) => path === wanted.path) ?? {}
    if (bytes !== undefined) yield bytes
  })
}
