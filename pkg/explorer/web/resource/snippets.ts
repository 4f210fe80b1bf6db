/* What one pastes into a configuration to use a module or provider. */

export interface Used {
  readonly registryHost: string
  readonly namespace: string
  readonly kind: string
  readonly name: string
  /** Target system of a module. */
  readonly provider?: string | undefined
  /** `name/system` of a module, or the type of a provider, where they differ from the object's name. */
  readonly address?: string | undefined
}

export type Tool = 'terraform' | 'tofu' | 'terragrunt'

/** What stands for the system of a module that names none; the server takes it. */
const anySystem = 'generic'

/** `namespace/name/system` of a module, `namespace/type` of a provider. */
export function addressOf({ namespace, kind, name, provider, address }: Used): string {
  if (address !== undefined) return `${namespace}/${address}`
  return kind === 'provider'
    ? `${namespace}/${name}`
    : `${namespace}/${name}/${provider ?? anySystem}`
}

/** A name as HCL takes it for a label: bad characters are `_`, and so is what stands before a digit. */
export function labelOf(name: string): string {
  const label = name.replaceAll(/[^\p{L}\p{N}_-]/gu, '_')
  return /^[\p{L}_]/u.test(label) ? label : `_${label}`
}

/** A quoted string, in which nothing is a template. */
function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  return `"${escaped.replaceAll(/([$%])\{/g, '$1$1{')}"`
}

/**
 * @param version undefined where there is none to pin, as long as the latest one is not synced
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
