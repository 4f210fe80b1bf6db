import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import semver from 'semver'
import { providerFileName } from '../../archives/archive/archive.ts'
import { isSegment, readShasums } from '../sources/sources.ts'
import type { FoundItems, ImportItem } from './item.ts'

const modulePattern = /^(?<version>.+)\.(?:zip|tar|tgz|tar\.gz)$/

const expected =
  'expected NAMESPACE/NAME/SYSTEM/VERSION.tar.gz (or zip, tgz, tar), or terraform-provider-TYPE_VERSION_OS_ARCH.zip'

/**
 * Finds the archives below a folder. `NAMESPACE/NAME/SYSTEM/VERSION.tar.gz` is a module. A file with the published name of a
 * provider, as `terraform providers mirror` writes it, is a provider: its folder may be named by its type, and the folder
 * above that by its namespace.
 *
 * @param namespace of everything; default: the namespace that the path names
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
  const unusable = unpackedIn(files).map((path) => ({
    label: join(folder, path),
    message: `the module is not packed: ${packing(folder, path)}`,
  }))
  for (const path of files) {
    if (!modulePattern.test(path)) continue
    const item = providerItem(folder, path, namespace) ?? moduleItem(folder, path, namespace)
    if (item === undefined) skipped.push(path)
    else items.push(item)
  }
  if (items.length + skipped.length + unusable.length > 0) {
    return { items, skipped, skippedAre: expected, unusable }
  }
  throw new Error(`the folder holds no archive; ${expected}`)
}

/** Finds directories with configuration that are in no other such directory. */
function unpackedIn(files: readonly string[]): string[] {
  const found: string[] = []
  const directories = new Set(
    files.filter((path) => /\.(?:tf|tofu)(?:\.json)?$/.test(path)).map((path) => dirname(path)),
  )
  for (const path of [...directories].toSorted()) {
    if (path.split('/').some((part) => part === '.terraform' || part === '.git')) continue
    if (!found.some((outer) => outer === '.' || path.startsWith(`${outer}/`))) found.push(path)
  }
  return found
}

function packing(folder: string, path: string): string {
  const isPlaced = path.split('/').length === 4 && semver.valid(basename(path)) !== null
  const target = isPlaced ? join(folder, path) : join(folder, 'NAMESPACE/NAME/SYSTEM/VERSION')
  return `tar -czf ${target}.tar.gz -C ${join(folder, path)} .`
}

function providerItem(folder: string, path: string, namespace?: string): ImportItem | undefined {
  const named = providerFileName(basename(path))
  if (named === undefined) return undefined
  const { type, version, os, arch } = named
  const above = dirname(path).split('/')
  const own = above.at(-1) === type ? above.at(-2) : undefined
  const file = join(folder, path)
  const beside = (name: string) =>
    readFile(join(dirname(file), `terraform-provider-${type}_${version}_${name}`), 'utf8').catch(
      () => '',
    )
  return {
    parent: { kind: 'Provider', namespace: namespace ?? own ?? 'default', name: type },
    version,
    platform: { os, arch },
    fetch: async () => ({
      file: { path: file, remove: async () => undefined },
      protocols: protocolsIn(await beside('manifest.json')),
      sha256: readShasums(await beside('SHA256SUMS')).get(basename(file)),
    }),
  }
}

function moduleItem(folder: string, path: string, otherwise?: string): ImportItem | undefined {
  const parts = path.split('/')
  const version = modulePattern.exec(parts.pop() ?? '')?.groups?.['version']?.replace(/^v/, '')
  const [system, name, own] = parts.toReversed()
  const namespace = otherwise ?? own
  if (!system || !name || !namespace || semver.valid(version) === null || !version) return undefined
  if (!isSegment(name) || !isSegment(system)) return undefined
  return {
    parent: { kind: 'Module', namespace, name, system },
    version,
    fetch: async () => ({ file: { path: join(folder, path), remove: async () => undefined } }),
  }
}

/** Finds the protocol versions in a provider's manifest. */
export function protocolsIn(text: string): string[] | undefined {
  const found = text.match(/"protocol_versions"\s*:\s*\[([^\]]{0,200})\]/)?.[1]
  return found?.match(/\d+\.\d+/g) ?? undefined
}
