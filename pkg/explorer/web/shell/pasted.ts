import type { ResourceDetail } from '../api/records.ts'
import { plural } from '../parts/format.ts'
import type { Folder } from '../url/pages.ts'

/* A pasted block of a configuration, or its source, to find the page of the module or provider. */

export interface Pasted {
  /** `namespace/name/system` of a module, `namespace/type` of a provider. */
  readonly address: string
  /** As in the configuration: a number or a constraint. */
  readonly version: string | undefined
  /** The submodule or example after `//`. */
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
  // Pages of the explorer have the kind in the middle. The search itself understands them.
  if (names[1] === 'module' || names[1] === 'provider') return undefined
  const version = versionPatternOf(text)?.exec(text)?.[0].trim()
  return { address: names.join('/'), version, folder: folderIn(source) }
}

function folderIn(source: string): Folder | undefined {
  const [, parent, folder] = /\w\/\/(modules|examples)\/([\w.-]+)\/?(?:\?.*)?$/.exec(source) ?? []
  if (folder === undefined) return undefined
  return { tab: parent === 'modules' ? 'submodules' : 'examples', name: folder }
}

type VersionsOf = Pick<ResourceDetail, 'versions' | 'latestVersion'>

/** The number of a constraint that allows only one; undefined for other constraints. */
export const exactly = (used: string): string | undefined =>
  /^(?:=\s*)?v?(\d+\.\d+\.\d+(?:[-+]\S+)?)$/.exec(used)?.[1]

/** The releases after the one in a configuration, newest first; undefined if it names none of these versions. */
export function newerThan(used: string, { versions }: VersionsOf): string[] | undefined {
  const at = versions.findIndex(({ version }) => version === exactly(used))
  if (at < 0) return undefined
  const released = versions.slice(0, at).filter(({ synced }) => synced)
  return released.map(({ version }) => version).filter((version) => !version.includes('-'))
}

/** How far behind the latest version a configuration is. */
export function behind(used: string, of: VersionsOf): string {
  if (of.latestVersion === undefined) return 'It has no version yet.'
  const latest = `Latest is ${of.latestVersion}.`
  const exact = exactly(used)
  if (exact === undefined) return `Your configuration takes ${used}. ${latest}`
  if (exact === of.latestVersion) return `You use ${exact}, the latest.`
  const newer = newerThan(used, of)
  if (newer === undefined) return `You use ${exact}, which is not here. ${latest}`
  return newer.length === 0
    ? `You use ${exact}. ${latest}`
    : `You use ${exact}: ${plural(newer.length, 'version')} behind. ${latest}`
}

/** The version of a block: its argument, otherwise the query of its source. */
const versionPatterns = [/(?<=\bversion\s*=\s*")[^"]+(?=")/, /(?<=[?&]version=)[^&"\s]+/]
const versionPatternOf = (block: string): RegExp | undefined =>
  versionPatterns.find((pattern) => pattern.test(block))

/** A pasted block with another version; undefined if the block names none. */
export function withVersion(block: string, version: string): string | undefined {
  const pattern = versionPatternOf(block)
  return pattern && block.replace(pattern, version)
}
