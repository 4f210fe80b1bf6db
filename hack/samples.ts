import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { parseAllDocuments } from 'yaml'
import { normalizeVersion, parseResource, type Version } from '../pkg/api/v1alpha1/v1alpha1.ts'
import { type Entry, entriesIn, tarGzOf, zipOf } from './testbed/registry/archives.ts'

const repository = dirname(import.meta.dirname)
export const samples = join(repository, 'config/samples')

/**
 * Builds the archive of every Version in config/samples: of a module from its folder in config/samples/sources, of the
 * provider from hack/testbed/sample-provider. Correct files are not written again.
 *
 * @param archives the folder that the server gets as `--archives`
 * @returns how many archives were written
 */
export async function buildSamples(archives: string): Promise<number> {
  const built = await Promise.all(sampleVersions().map((version) => archiveOf(version)))
  return built.filter(({ path, content }) => replace(join(archives, path), content)).length
}

export function sampleVersions(): Version[] {
  return globSync(join(samples, '*.yaml'))
    .flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')))
    .map((document): unknown => document.toJS())
    .filter((object) => (object as { kind?: unknown }).kind === 'Version')
    .map((object) => {
      const parsed = parseResource('Version', object)
      if (!parsed.ok) throw new Error(`config/samples: ${JSON.stringify(parsed.issues)}`)
      return parsed.resource
    })
}

/** The ConfigMap of each README in config/samples/sources, as a controller would write it for its Version. */
export function sampleReadmes(): object[] {
  return sampleVersions().flatMap((version) => {
    const ref = version.status?.readmeConfigMapRef
    const file = join(sourcesOf(version), 'README.md')
    if (ref === undefined || !existsSync(file)) return []
    return [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: ref.name,
          namespace: version.metadata.namespace,
          labels: { 'depot.internal/readme': 'true' },
        },
        data: { [ref.key]: readFileSync(file).toString('base64') },
      },
    ]
  })
}

/** Name of its module or provider. */
export const parentName = ({ spec }: Version): string =>
  (spec.moduleConfigRef ?? spec.providerConfigRef)?.name ?? ''

/** The path of its archive below the folder of archives. */
export function pathOf(version: Version): string {
  const { type, fileName = '' } = version.spec
  return join(type === 'Provider' ? 'providers' : 'modules', parentName(version), fileName)
}

/** The target system of a module. */
export function sourcesOf(version: Version): string {
  return join(samples, 'sources', parentName(version), normalizeVersion(version.spec.version))
}

async function archiveOf(version: Version): Promise<{ path: string; content: Buffer }> {
  const { type, fileName = '' } = version.spec
  const path = pathOf(version)
  if (type === 'Provider') {
    const { version: number, operatingSystem, architecture } = version.spec
    const platform = `${operatingSystem}_${architecture}`
    const name = parentName(version)
    const entries = await providerEntries(name, normalizeVersion(number), platform)
    return { path, content: await zipOf(entries) }
  }
  const entries = entriesIn(sourcesOf(version))
  return { path, content: await (fileName.endsWith('.zip') ? zipOf(entries) : tarGzOf(entries)) }
}

/** One script for every platform, so that the samples need no compiler. Terraform starts the file with the right name. */
async function providerEntries(name: string, version: string, platform: string): Promise<Entry[]> {
  const bundle = await bundleOf(version)
  const launcher = '#!/bin/sh\nexec node "$(dirname "$0")/provider.cjs"\n'
  return [
    // Without it the archives of all platforms would be the same, and a lock file would hold one hash for all.
    { path: 'PLATFORM', content: Buffer.from(`${platform}\n`) },
    { path: 'provider.cjs', content: bundle },
    {
      path: `terraform-provider-${name}_v${version}`,
      content: Buffer.from(launcher),
      executable: true,
    },
  ]
}

const bundles = new Map<string, Promise<Buffer>>()

/** The provider as one script, made once for all platforms of a version. */
function bundleOf(version: string): Promise<Buffer> {
  const known = bundles.get(version)
  if (known !== undefined) return known
  const made = build({
    entryPoints: [join(repository, 'hack/testbed/sample-provider/main.ts')],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    define: { VERSION: JSON.stringify(version) },
  }).then(({ outputFiles }) => Buffer.from(outputFiles[0]?.contents ?? []))
  bundles.set(version, made)
  return made
}

/** Writes a file and renames it, so that a running server never sees a partial one. @returns whether it was another one */
export function replace(path: string, content: Uint8Array): boolean {
  if (existsSync(path) && readFileSync(path).equals(content)) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
  return true
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const archives = join(repository, '.depot/archives')
  console.log(`${await buildSamples(archives)} sample archives written to ${archives}`)
}
