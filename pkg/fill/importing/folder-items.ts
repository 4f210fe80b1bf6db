import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import semver from 'semver'
import type { FoundItems, ImportItem } from './item.ts'

/** What an address may have between its slashes. */
const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/
const modulePattern = /^(?<version>.+)\.(?:zip|tar|tgz|tar\.gz)$/
const providerPattern =
  /^terraform-provider-(?<type>[a-z0-9-]+)_(?<version>[^_]+)_(?<os>[a-z0-9]+)_(?<arch>[a-z0-9]+)\.zip$/

const expected =
  'expected NAMESPACE/NAME/SYSTEM/VERSION.tar.gz (or zip, tgz, tar), or terraform-provider-TYPE_VERSION_OS_ARCH.zip'

/**
 * The archives below a folder: `NAMESPACE/NAME/SYSTEM/VERSION.tar.gz` are modules; files named as providers are published
 * and as `terraform providers mirror` writes them are providers, in the namespace of the directory two above, if there is one.
 *
 * @param namespace of what stands beside no directory that names one
 */
export async function folderItems(
  folder: string,
  namespace: string | undefined,
): Promise<FoundItems> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
  const items: ImportItem[] = []
  const skipped: string[] = []
  for (const path of files) {
    if (!modulePattern.test(path)) continue
    const item = providerItem(folder, path, namespace) ?? moduleItem(folder, path, namespace)
    if (item === undefined) skipped.push(path)
    else items.push(item)
  }
  if (items.length === 0 && skipped.length === 0)
    throw new Error(`no archive is in it; ${expected}`)
  return { items, skipped, skippedAre: expected }
}

function providerItem(folder: string, path: string, otherwise = 'default'): ImportItem | undefined {
  const { type, version, os, arch } = providerPattern.exec(basename(path))?.groups ?? {}
  if (!type || !os || !arch || semver.valid(version) === null || version === undefined)
    return undefined
  const above = dirname(path).split('/')
  const namespace = above.at(-1) === type ? (above.at(-2) ?? otherwise) : otherwise
  const file = join(folder, path)
  return {
    parent: { kind: 'Provider', namespace, name: type },
    version,
    platform: { os, arch },
    fetch: async () => ({
      file,
      protocols: await protocolsBeside(file, type, version),
      sha256: await checksumBeside(file, type, version),
      remove: async () => undefined,
    }),
  }
}

function moduleItem(folder: string, path: string, otherwise?: string): ImportItem | undefined {
  const parts = path.split('/')
  const version = modulePattern.exec(parts.pop() ?? '')?.groups?.['version']?.replace(/^v/, '')
  const [system, name, namespace = otherwise] = parts.toReversed()
  if (!system || !name || !namespace || semver.valid(version) === null || !version) return undefined
  if (!namePattern.test(name) || !namePattern.test(system)) return undefined
  return {
    parent: { kind: 'Module', namespace, name, system },
    version,
    fetch: async () => ({ file: join(folder, path), remove: async () => undefined }),
  }
}

/** What the list of checksums beside a provider says of it, where there is one. */
async function checksumBeside(file: string, type: string, version: string) {
  const path = join(dirname(file), `terraform-provider-${type}_${version}_SHA256SUMS`)
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .map((line) => /^([0-9a-f]{64})\s+\*?(\S+)$/i.exec(line.trim()))
    .find((match) => match?.[2] === basename(file))?.[1]
    ?.toLowerCase()
}

/** What the manifest beside a provider says, where there is one. */
async function protocolsBeside(file: string, type: string, version: string) {
  const path = join(dirname(file), `terraform-provider-${type}_${version}_manifest.json`)
  const text = await readFile(path, 'utf8').catch(() => undefined)
  const found = text?.match(/"protocol_versions"\s*:\s*\[([^\]]{0,200})\]/)?.[1]
  return found?.match(/\d+\.\d+/g) ?? undefined
}
