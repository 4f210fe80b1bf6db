import { statSync } from 'node:fs'

/** A source of an import, as it is written on a command line. */
export type ImportAddress =
  | {
      readonly from: 'registry'
      readonly host: string
      /** Namespace, name and system of a module, or namespace and type of a provider. */
      readonly path: readonly [string, string, string?]
    }
  | {
      readonly from: 'git'
      readonly host: string
      readonly url: string
      readonly directory: string
    }
  | { readonly from: 'folder'; readonly path: string }

const part = '[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?'
const registryPattern = new RegExp(
  `^([A-Za-z0-9.-]+(?::\\d+)?)/(${part})/(${part})(?:/(${part}))?$`,
)

/**
 * Reads an address: `HOST/NAMESPACE/NAME/SYSTEM` is a module, `HOST/NAMESPACE/TYPE` a provider,
 * `git::https://HOST/REPOSITORY[//DIRECTORY]` the tags of a repository, and `./FOLDER` a folder of archives.
 *
 * @throws Error that explains how to write addresses
 */
export function importAddress(text: string): ImportAddress {
  if (text.startsWith('git::')) return gitAddress(text)
  if (/^\.{0,2}\//.test(text) || text === '.') return folderAddress(text)
  const [, host, first, second, third] = registryPattern.exec(text) ?? []
  if (host === undefined || first === undefined || second === undefined || !/[.:]/.test(host)) {
    throw new Error(
      `${JSON.stringify(text.slice(0, 100))} is not a source: write HOST/NAMESPACE/NAME/SYSTEM for a module, HOST/NAMESPACE/TYPE for a provider, git::https://HOST/REPOSITORY for tags, or ./FOLDER`,
    )
  }
  const path = third === undefined ? ([first, second] as const) : ([first, second, third] as const)
  return { from: 'registry', host, path }
}

function gitAddress(text: string): ImportAddress {
  const [, base = '', directory = ''] = /^git::(https:\/\/.+?)(?:\/\/(.*))?$/.exec(text) ?? []
  const url = URL.parse(base)
  if (url === null || url.username !== '' || url.search !== '') {
    throw new Error(
      `${JSON.stringify(text.slice(0, 100).replace(/\/\/[^/@]*@/, '//'))} is not a repository: write git::https://HOST/REPOSITORY, and put a token into the environment variable DEPOT_IMPORT_TOKEN`,
    )
  }
  return { from: 'git', host: url.host, url: base, directory }
}

function folderAddress(path: string): ImportAddress {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder) return { from: 'folder', path }
  throw new Error(`${JSON.stringify(path)} is not a folder`)
}

/** An address as a person reads it. */
export function nameOf(address: ImportAddress): string {
  if (address.from === 'folder') return address.path
  return address.from === 'git' ? address.url : [address.host, ...address.path].join('/')
}
