import { type ImportAddress, nameOf } from './address.ts'
import { folderItems } from './folder-items.ts'
import type { FoundItems, ImportItem } from './item.ts'
import type { ImportOptions } from './run.ts'
import { moduleItems, providerItems } from './upstream-items.ts'

const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** What an address has, before it is known what of it is stored already. */
export async function itemsOf(
  address: ImportAddress,
  options: ImportOptions,
): Promise<readonly ImportItem[]> {
  const { items: found, skipped, skippedAre } = await itemsAt(address, options)
  const { onEvent, chosen } = options
  for (const each of skipped) {
    const what = address.from === 'folder' ? each : `${each} of ${nameOf(address)}`
    onEvent({ kind: 'skipped', what, message: skippedAre })
  }
  const items = found.filter(({ version }) => chosen(version))
  if (items.length === 0 && skipped.length === 0) {
    const message = found.length === 0 ? 'has no versions' : 'has no version that --versions names'
    onEvent({ kind: 'skipped', what: nameOf(address), message })
  }
  const bad = items.find(({ parent }) => !namespacePattern.test(parent.namespace))
  if (bad === undefined) return items
  throw new Error(
    `${JSON.stringify(bad.parent.namespace)} is no name of a namespace: choose another one with --namespace`,
  )
}

async function itemsAt(address: ImportAddress, options: ImportOptions): Promise<FoundItems> {
  const { sources, namespace, signal, secretName, tagPrefix } = options
  const secretRef = secretName === undefined ? {} : { secretRef: { name: secretName } }
  if (address.from === 'folder') {
    const { items, ...rest } = await folderItems(address.path, namespace)
    return namespace === undefined
      ? { items, ...rest }
      : {
          items: items.map((item) => ({ ...item, parent: { ...item.parent, namespace } })),
          ...rest,
        }
  }
  if (address.from === 'git') {
    const { module } = options
    if (module === undefined || namespace === undefined) {
      throw new Error(
        'a repository does not say what its module is called: set --namespace, --name and --system',
      )
    }
    const { url, directory: path } = address
    const source = {
      type: 'git',
      url,
      ...(path && { path }),
      ...(tagPrefix && { tagPrefix }),
      ...secretRef,
    } as const
    const parent = { kind: 'Module', namespace, ...module } as const
    return moduleItems(sources.module({ source }, namespace), parent, signal)
  }
  const [theirs, name] = address.path
  const target = namespace ?? theirs
  if (address.from === 'module') {
    const [, , system] = address.path
    const url = [address.host, ...address.path].join('/')
    const source = sources.module({ source: { type: 'registry', url, ...secretRef } }, target)
    return moduleItems(source, { kind: 'Module', namespace: target, name, system }, signal)
  }
  const signature = options.unsigned ? 'IfPresent' : 'Required'
  const origin = {
    name,
    namespace: theirs,
    upstreamHost: address.host,
    signature,
    ...secretRef,
  } as const
  const parent = { kind: 'Provider', namespace: target, name } as const
  return providerItems(sources.provider(origin, target), parent, signal)
}
