import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { Bits } from './bits.ts'
import { severities } from './findings.ts'
import type { Summary } from './summary.ts'

/** The severities to filter by: an entry with one of them also has all milder ones. */
const severityLevels = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const
export type SeverityLevel = (typeof severityLevels)[number]

const noEntries = new Bits()

/** The set of entries for each value of a filter. */
export class TagSets {
  readonly #sets = new Map<string, Bits>()

  get(tag: string): Bits {
    return this.#sets.get(tag) ?? noEntries
  }

  /** Moves an entry from the sets of its old summary to those of its new ones. */
  update(number: number, old: Summary | undefined, summary: Summary | undefined): void {
    const before = new Set(old && tagsOf(old))
    const after = new Set(summary && tagsOf(summary))
    for (const tag of before) if (!after.has(tag)) this.#delete(tag, number)
    for (const tag of after) if (!before.has(tag)) this.#add(tag, number)
  }

  #add(tag: string, number: number): void {
    let set = this.#sets.get(tag)
    if (set === undefined) {
      set = new Bits()
      this.#sets.set(tag, set)
    }
    set.add(number)
  }

  #delete(tag: string, number: number): void {
    const set = this.#sets.get(tag)
    set?.delete(number)
    if (set?.empty) this.#sets.delete(tag)
  }
}

/** Names of the sets. */
export const tag = {
  kind: (kind: ParentKind) => `kind ${kind}`,
  namespace: (namespace: string) => `namespace ${namespace}`,
  synced: (synced: boolean) => `synced ${synced}`,
  /** A platform of which both parts, one or none count. */
  platform: (os = '', arch = '') => `platform ${os.toLowerCase()}/${arch.toLowerCase()}`,
  severity: (level: SeverityLevel) => `severity ${level}`,
}

function tagsOf({ kind, namespace, synced, platforms, scanCounts }: Summary): string[] {
  const tags = [tag.kind(kind), tag.namespace(namespace), tag.synced(synced)]
  for (const platform of platforms) {
    const [os, arch] = platform.split('/')
    if (os) tags.push(tag.platform(os))
    if (arch) tags.push(tag.platform('', arch))
    if (os && arch) tags.push(tag.platform(os, arch))
  }
  if (scanCounts === undefined) return tags
  const worst = severities.findIndex((severity) => scanCounts[severity] > 0)
  if (worst !== -1) tags.push(...severityLevels.slice(worst).map(tag.severity))
  return tags
}
