/* Blocks to paste into a configuration to use a module or provider. */

export interface Used {
  readonly registryHost: string
  readonly namespace: string
  readonly kind: string
  readonly name: string
  /** Target system of a module. */
  readonly provider?: string | undefined
  /** `name/system` of a module, or the type of a provider, if they differ from the object's name. */
  readonly address?: string | undefined
}

export type Tool = 'terraform' | 'tofu' | 'terragrunt'

/** System in addresses of modules without a system; the server accepts it. */
const anySystem = 'generic'

/** `namespace/name/system` of a module, `namespace/type` of a provider. */
export function addressOf({ namespace, kind, name, provider, address }: Used): string {
  if (address !== undefined) return `${namespace}/${address}`
  return kind === 'provider'
    ? `${namespace}/${name}`
    : `${namespace}/${name}/${provider ?? anySystem}`
}

/** A name as an HCL label: other characters become `_`, and a leading digit gets a `_` before it. */
export function labelOf(name: string): string {
  const label = name.replaceAll(/[^\p{L}\p{N}_-]/gu, '_')
  return /^[\p{L}_]/u.test(label) ? label : `_${label}`
}

/** A quoted HCL string in which templates are escaped. */
function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  return `"${escaped.replaceAll(/([$%])\{/g, '$1$1{')}"`
}

/**
 * @param version undefined if no version can be pinned, while the latest is not synced
 */
export function usageBlock(used: Used, tool: Tool, version: string | undefined): string {
  const address = addressOf(used)
  const source = `${used.registryHost}/${address}`
  const label = labelOf(address.split('/')[1] ?? used.name)
  if (used.kind === 'provider') {
    const lines = [`      source  = ${quoted(source)}`]
    if (version !== undefined) lines.push(`      version = ${quoted(version)}`)
    return `terraform {\n  required_providers {\n    ${label} = {\n${lines.join('\n')}\n    }\n  }\n}`
  }
  if (tool === 'terragrunt') {
    const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`
    return `terraform {\n  source = ${quoted(`tfr://${source}${query}`)}\n}`
  }
  const lines = [`  source  = ${quoted(source)}`]
  if (version !== undefined) lines.push(`  version = ${quoted(version)}`)
  return `module ${quoted(label)} {\n${lines.join('\n')}\n}`
}

/** Locks the hashes of all platforms at once. @param platforms `os/arch` */
export const lockCommand = (tool: Tool, platforms: readonly string[]): string =>
  [`${tool} providers lock`, ...platforms.map((it) => `  -platform=${it.replace('/', '_')}`)].join(
    ' \\\n',
  )
