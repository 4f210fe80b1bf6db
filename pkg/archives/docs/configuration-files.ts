/** How the CLIs read a file of a module's folder. */
export interface ConfigurationFile {
  readonly name: string
  readonly isJson: boolean
  /** Whether its blocks change those of other files instead of adding to them. */
  readonly isOverride: boolean
}

/**
 * Selects the files that the CLIs read in a folder, in their order. OpenTofu reads `main.tofu` instead of a `main.tf` next to
 * it.
 *
 * @param names of all files in the folder
 */
export function configurationFiles(names: readonly string[]): ConfigurationFile[] {
  const all = new Set(names)
  const files = names.flatMap((name) => {
    const [, base = '', language, json] = /^(.+)\.(tf|tofu)(\.json)?$/.exec(name) ?? []
    if (language === undefined || isIgnored(name)) return []
    if (language === 'tf' && all.has(`${base}.tofu${json ?? ''}`)) return []
    const isOverride = base === 'override' || base.endsWith('_override')
    return [{ name, isJson: json !== undefined, isOverride }]
  })
  return files.toSorted(
    (a, b) => Number(a.isOverride) - Number(b.isOverride) || (a.name < b.name ? -1 : 1),
  )
}

/** Hidden files, and copies that editors make. */
const isIgnored = (name: string): boolean =>
  name.startsWith('.') || name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'))
