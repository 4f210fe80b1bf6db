import { statSync } from 'node:fs'

/** Where something is imported from, as it is written on a command line. */
export type ImportAddress =
  | {
      readonly from: 'module'
      readonly host: string
      readonly path: readonly [string, string, string]
    }
  | { readonly from: 'provider'; readonly host: string; readonly path: readonly [string, string] }
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
 * `git::https://HOST/REPOSITORY[//DIRECTORY]` the tags of a repository, and what is there on the disk a folder of archives.
 *
 * @throws Error that says how addresses are written
 */
export function importAddress(text: string): ImportAddress {
  if (text.startsWith('git::')) return gitAddress(text)
  if (/^\.{0,2}\//.test(text) || text === '.') return folderAddress(text)
  const [, host, first, second, third] = registryPattern.exec(text) ?? []
  if (host === undefined || first === undefined || second === undefined || !/[.:]/.test(host)) {
    throw new Error(
      `${JSON.stringify(text.slice(0, 100))} is no source: write HOST/NAMESPACE/NAME/SYSTEM for a module, HOST/NAMESPACE/TYPE for a provider, git::https://HOST/REPOSITORY for tags, or ./FOLDER`,
    )
  }
  return third === undefined
    ? { from: 'provider', host, path: [first, second] }
    : { from: 'module', host, path: [first, second, third] }
}

function gitAddress(text: string): ImportAddress {
  const [, base = '', directory = ''] = /^git::(https:\/\/.+?)(?:\/\/(.*))?$/.exec(text) ?? []
  const url = URL.parse(base)
  if (url === null || url.username !== '' || url.search !== '') {
    throw new Error(
      `${JSON.stringify(text.slice(0, 100).replace(/\/\/[^/@]*@/, '//'))} is no repository: write git::https://HOST/REPOSITORY, and a token into the environment`,
    )
  }
  return { from: 'git', host: url.host, url: base, directory }
}

function folderAddress(path: string): ImportAddress {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    return { from: 'folder', path }
  throw new Error(`${JSON.stringify(path)} is no folder`)
}

/** An address as a person reads it. */
export function nameOf(address: ImportAddress): string {
  if (address.from === 'folder') return address.path
  return address.from === 'git' ? address.url : [address.host, ...address.path].join('/')
}
