import type { ResourceDetail } from '../api/records.ts'
import { plural } from '../parts/format.ts'
import type { Folder } from '../url/pages.ts'

/* A block of a configuration, or its source, pasted to find the page of the module or provider. */

export interface Pasted {
  /** `namespace/name/system` of a module, `namespace/type` of a provider. */
  readonly address: string
  /** As the configuration has it: a number or a constraint. */
  readonly version: string | undefined
  /** The submodule or example that follows `//`. */
  readonly folder: Folder | undefined
}

const host = /^[\w-]+(?:\.[\w-]+)*(?::\d+)?$/
const name = /^[\p{L}\p{N}][\p{L}\p{N}_.-]*$/u

/** Undefined unless the text has a source in a registry: in a block, with its host, or with its system. */
export function pastedSource(text: string): Pasted | undefined {
  const inBlock = /\bsource\s*=\s*"([^"\s]+)"/.exec(text)?.[1]
  const source = (inBlock ?? text).trim().replace(/^\w+:\/\//, '')
  const parts = source.replace(/(?:\/\/|\?).*$/, '').split('/')
  const hasHost = host.test(parts[0] ?? '') && /[.:]|^localhost$/.test(parts[0] ?? '')
  const names = hasHost ? parts.slice(1) : parts
  const fewest = inBlock !== undefined || hasHost ? 2 : 3
  if (names.length < fewest || names.length > 3 || !names.every((it) => name.test(it)))
    return undefined
  // Pages of the explorer have the kind in the middle; the search itself understands them.
  if (names[1] === 'module' || names[1] === 'provider') return undefined
  const version =
    /\bversion\s*=\s*"([^"]+)"/.exec(text)?.[1] ?? /[?&]version=([^&"\s]+)/.exec(text)?.[1]
  return { address: names.join('/'), version: version?.trim(), folder: folderIn(source) }
}

function folderIn(source: string): Folder | undefined {
  const [, parent, folder] = /\w\/\/(modules|examples)\/([\w.-]+)\/?(?:\?.*)?$/.exec(source) ?? []
  if (folder === undefined) return undefined
  return { tab: parent === 'modules' ? 'submodules' : 'examples', name: folder }
}

/** How far behind the latest version a configuration is. */
export function behind(
  used: string,
  { versions, latestVersion }: Pick<ResourceDetail, 'versions' | 'latestVersion'>,
): string {
  if (latestVersion === undefined) return 'It has no version yet.'
  const latest = `Latest is ${latestVersion}.`
  const exact = /^(?:=\s*)?v?(\d+\.\d+\.\d+(?:[-+]\S+)?)$/.exec(used)?.[1]
  if (exact === undefined) return `Your configuration takes ${used}. ${latest}`
  if (exact === latestVersion) return `You use ${exact}, the latest.`
  const at = versions.findIndex(({ version }) => version === exact)
  if (at < 0) return `You use ${exact}, which is not here. ${latest}`
  const newer = versions
    .slice(0, at)
    .filter(({ version, synced }) => synced && !version.includes('-'))
  return newer.length === 0
    ? `You use ${exact}. ${latest}`
    : `You use ${exact}: ${plural(newer.length, 'version')} behind. ${latest}`
}
