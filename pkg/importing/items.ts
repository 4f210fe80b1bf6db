import type { ImportAddress } from './address.ts'
import { folderItems } from './folder-items.ts'
import type { ImportItem } from './item.ts'
import type { ImportOptions } from './run.ts'
import { moduleItems, providerItems } from './upstream-items.ts'

const namespacePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

/** What an address has, before it is known what of it is stored already. */
export async function itemsOf(
  address: ImportAddress,
  options: ImportOptions,
): Promise<readonly ImportItem[]> {
  const items = await itemsAt(address, options)
  const bad = items.find(({ parent }) => !namespacePattern.test(parent.namespace))
  if (bad === undefined) return items
  throw new Error(
    `${JSON.stringify(bad.parent.namespace)} is no name of a namespace: choose another one with --namespace`,
  )
}

async function itemsAt(
  address: ImportAddress,
  options: ImportOptions,
): Promise<readonly ImportItem[]> {
  const { sources, namespace, chosen, signal, secretName, tagPrefix, onEvent } = options
  const secretRef = secretName === undefined ? {} : { secretRef: { name: secretName } }
  if (address.from === 'folder') {
    const { items, skipped } = await folderItems(address.path, namespace, chosen)
    const message = 'is neither NAMESPACE/NAME/SYSTEM/VERSION.tar.gz nor the name of a provider'
    for (const what of skipped) onEvent({ kind: 'skipped', what, message })
    return namespace === undefined
      ? items
      : items.map((item) => ({ ...item, parent: { ...item.parent, namespace } }))
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
    return moduleItems(sources.module({ source }, namespace), parent, chosen, signal)
  }
  const [theirs, name] = address.path
  const target = namespace ?? theirs
  if (address.from === 'module') {
    const [, , system] = address.path
    const url = [address.host, ...address.path].join('/')
    const source = sources.module({ source: { type: 'registry', url, ...secretRef } }, target)
    return moduleItems(source, { kind: 'Module', namespace: target, name, system }, chosen, signal)
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
  return providerItems(sources.provider(origin, target), parent, chosen, signal)
}
