import type { SecurityFinding } from '../apis/v1alpha1/v1alpha1.ts'
import { IdLists, type ListHandle } from './id-lists.ts'
import { rankOf, type Severity, severities } from './severity.ts'

/** Names the findings of one scan in a {@link FindingTable}; 0 is a scan without any. */
export type FindingList = ListHandle

/**
 * Every distinct finding once. Most of a registry's data is findings, and most of them repeat: the same vulnerability of
 * the same package is in hundreds of Versions. Rows keep lists of ids; a finding that no list holds any more is dropped.
 */
export class FindingTable {
  readonly #lists = new IdLists()
  readonly #findings: (SecurityFinding | undefined)[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []
  /** The first finding of a vulnerability, which leads to the others through `#next`. */
  readonly #first = new Map<string, number>()
  readonly #next: (number | undefined)[] = []
  /** Findings of one vulnerability in one package and version share a subject. */
  readonly #subjects: number[] = []
  readonly #ranks: number[] = []
  #lastSubject = 0

  /** Number of distinct findings. */
  get size(): number {
    return this.#findings.length - this.#free.length
  }

  /** Stores findings in their order. Release the list when its row goes. */
  hold(findings: readonly SecurityFinding[]): FindingList {
    return this.#lists.add(findings.map((finding) => this.#hold(finding)))
  }

  release(list: FindingList): void {
    for (const id of this.#lists.get(list)) {
      const uses = (this.#uses[id] ?? 0) - 1
      this.#uses[id] = uses
      if (uses === 0) this.#forget(id)
    }
    this.#lists.drop(list)
  }

  /** The findings of a list; equal ones are the same object. */
  get(list: FindingList): SecurityFinding[] {
    return Array.from(this.#lists.get(list), (id) => this.#findings[id] as SecurityFinding)
  }

  /** Ids of the findings of a list, as a view that holds until the list is released. */
  ids(list: FindingList): Uint32Array {
    return this.#lists.get(list)
  }

  at(id: number): SecurityFinding {
    return this.#findings[id] as SecurityFinding
  }

  /** Equal for two findings that tell of the same vulnerability in the same package and version. */
  subjectOf(id: number): number {
    return this.#subjects[id] as number
  }

  /** 0 is critical; the larger, the milder. */
  rankOf(id: number): number {
    return this.#ranks[id] as number
  }

  severityOf(id: number): Severity {
    return severities[this.rankOf(id)] as Severity
  }

  #hold(finding: SecurityFinding): number {
    const first = this.#first.get(finding.vulnerabilityID)
    let subject: number | undefined
    for (let id = first; id !== undefined; id = this.#next[id]) {
      const known = this.#findings[id] as SecurityFinding
      if (!hasSameSubject(known, finding)) continue
      subject = this.#subjects[id]
      if (!isSame(known, finding)) continue
      this.#uses[id] = (this.#uses[id] ?? 0) + 1
      return id
    }
    const id = this.#free.pop() ?? this.#findings.length
    this.#subjects[id] = subject ?? ++this.#lastSubject
    this.#ranks[id] = rankOf(finding.severity)
    this.#findings[id] = finding
    this.#uses[id] = 1
    this.#next[id] = first
    this.#first.set(finding.vulnerabilityID, id)
    return id
  }

  #forget(id: number): void {
    const { vulnerabilityID } = this.#findings[id] as SecurityFinding
    const next = this.#next[id]
    let before = this.#first.get(vulnerabilityID)
    if (before === id) {
      if (next === undefined) this.#first.delete(vulnerabilityID)
      else this.#first.set(vulnerabilityID, next)
    } else {
      while (before !== undefined && this.#next[before] !== id) before = this.#next[before]
      if (before !== undefined) this.#next[before] = next
    }
    this.#findings[id] = undefined
    this.#next[id] = undefined
    this.#free.push(id)
  }
}

function hasSameSubject(a: SecurityFinding, b: SecurityFinding): boolean {
  return a.pkgName === b.pkgName && a.installedVersion === b.installedVersion
}

/** Of two findings with the same subject. */
function isSame(a: SecurityFinding, b: SecurityFinding): boolean {
  return a.fixedVersion === b.fixedVersion && a.severity === b.severity && a.title === b.title
}
