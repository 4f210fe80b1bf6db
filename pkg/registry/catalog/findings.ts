import { CheckedFinding, type SecurityFinding } from '../../api/v1alpha1/v1alpha1.ts'

/** From worst to mildest; `unknown` is last. */
export const severities = ['critical', 'high', 'medium', 'low', 'unknown'] as const

/** Index in {@link severities}. Other words count as unknown. */
function rankOf(severity: string): number {
  const index = severities.findIndex((name) => name === severity.toLowerCase())
  return index === -1 ? severities.length - 1 : index
}

/** Names the findings of one scan in a {@link FindingTable}; 0 is a scan without any. */
export type FindingList = ListHandle

/**
 * Stores every distinct finding once. Most data of a registry is findings, and most repeat: hundreds of Versions have the same
 * vulnerability of the same package. Rows have lists of ids. A finding without a list is dropped.
 */
export class FindingTable {
  readonly #lists = new IdLists()
  readonly #findings: (SecurityFinding | undefined)[] = []
  readonly #uses: number[] = []
  readonly #free: number[] = []
  /** Ids by all fields of a finding. */
  readonly #ids = new Map<string, number>()
  /** Findings of one vulnerability in one package and version share a subject. */
  readonly #subjects: number[] = []
  readonly #known = new Map<string, { readonly subject: number; findings: number }>()
  readonly #ranks: number[] = []
  readonly #freeSubjects: number[] = []
  #subjectCount = 0
  /** By subject: the last run of {@link distinct} that found it, and its position in the result. */
  readonly #walks: number[] = []
  readonly #places: number[] = []
  #walk = 0

  /** Number of distinct findings, with which tests find leaks. */
  get size(): number {
    return this.#findings.length - this.#free.length
  }

  /** Stores findings in order. Release the list when its row is removed. */
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

  /** Ids of the findings of a list, as a view that is valid until the list is released. */
  ids(list: FindingList): ArrayLike<number> & Iterable<number> {
    return this.#lists.get(list)
  }

  /** The finding of an id; equal ones are the same object. */
  at(id: number): SecurityFinding {
    return this.#findings[id] as SecurityFinding
  }

  /**
   * Ids of the findings of some lists, in their order. If two findings have the same vulnerability, package and version, only
   * the worse one is returned, because the milder one may be out of date.
   */
  distinct(lists: readonly FindingList[]): number[] {
    const [subjects, walks, places, ranks] = [
      this.#subjects,
      this.#walks,
      this.#places,
      this.#ranks,
    ]
    const found: number[] = []
    const walk = ++this.#walk
    for (const list of lists) {
      const ids = this.#lists.get(list)
      for (let index = 0; index < ids.length; index += 1) {
        const id = ids[index] as number
        const subject = subjects[id] as number
        if (walks[subject] !== walk) {
          walks[subject] = walk
          places[subject] = found.length
          found.push(id)
          continue
        }
        const place = places[subject] as number
        if ((ranks[id] as number) < (ranks[found[place] as number] as number)) found[place] = id
      }
    }
    return found
  }

  /** Number of distinct findings of some lists by severity, in the order of `severities`. */
  countByRank(lists: readonly FindingList[]): readonly number[] {
    const counts = severities.map(() => 0)
    for (const id of this.distinct(lists)) {
      const rank = this.#ranks[id] as number
      counts[rank] = (counts[rank] as number) + 1
    }
    return counts
  }

  /** Like {@link countByRank}, but list by list. Keeps the worst rank of each subject. */
  keepWorst(worst: Map<number, number>, lists: readonly FindingList[]): void {
    for (const list of lists) {
      for (const id of this.#lists.get(list)) {
        const subject = this.#subjects[id] as number
        const rank = this.#ranks[id] as number
        if (rank < (worst.get(subject) ?? severities.length)) worst.set(subject, rank)
      }
    }
  }

  #hold(finding: SecurityFinding): number {
    const place = CheckedFinding.placeOf(finding)
    const isPlaced = place >= 0 && this.#findings[place] === finding
    const id = isPlaced ? place : this.#ids.get(wholeOf(finding))
    if (id === undefined) return this.#add(finding)
    this.#uses[id] = (this.#uses[id] as number) + 1
    if (id !== place) this.#keep(id, finding)
    return id
  }

  /** Keeps the last of equal findings, because that one is used again. */
  #keep(id: number, finding: SecurityFinding): void {
    this.#findings[id] = finding
    CheckedFinding.setPlace(finding, id)
  }

  #add(finding: SecurityFinding): number {
    const id = this.#free.pop() ?? this.#findings.length
    this.#subjects[id] = this.#joinSubject(finding)
    this.#ranks[id] = rankOf(finding.severity)
    this.#uses[id] = 1
    this.#ids.set(wholeOf(finding), id)
    this.#keep(id, finding)
    return id
  }

  #forget(id: number): void {
    const finding = this.#findings[id] as SecurityFinding
    this.#ids.delete(wholeOf(finding))
    this.#leaveSubject(finding)
    this.#findings[id] = undefined
    this.#free.push(id)
  }

  #joinSubject(finding: SecurityFinding): number {
    const key = subjectKeyOf(finding)
    const known = this.#known.get(key)
    if (known === undefined) {
      const subject = this.#freeSubjects.pop() ?? this.#subjectCount++
      this.#known.set(key, { subject, findings: 1 })
      return subject
    }
    known.findings += 1
    return known.subject
  }

  #leaveSubject(finding: SecurityFinding): void {
    const key = subjectKeyOf(finding)
    const known = this.#known.get(key)
    if (known === undefined) return
    known.findings -= 1
    if (known.findings > 0) return
    this.#known.delete(key)
    this.#freeSubjects.push(known.subject)
  }
}

/** Begins with lengths, so that different subjects never give the same text. */
function subjectKeyOf({ vulnerabilityID, pkgName, installedVersion }: SecurityFinding): string {
  return `${vulnerabilityID.length} ${pkgName.length} ${vulnerabilityID}${pkgName}${installedVersion}`
}

function wholeOf(finding: SecurityFinding): string {
  const { fixedVersion, severity, title } = finding
  const subject = subjectKeyOf(finding)
  const lengths = `${subject.length} ${fixedVersion?.length} ${severity.length}`
  return `${lengths} ${subject}${fixedVersion}${severity}${title}`
}

/** The findings of some scans, in order, each once. */
export function distinctFindings(
  table: FindingTable,
  lists: readonly FindingList[],
): SecurityFinding[] {
  return table.distinct(lists).map((id) => table.at(id))
}

/** Names a list in {@link IdLists}; 0 is the empty list. */
type ListHandle = number

/** Large enough for the longest list, small enough that a mostly empty block costs little. */
const segmentLength = 2 ** 20
/** The largest number in two bytes. */
const narrowMax = 2 ** 16 - 1

/**
 * Millions of short lists of numbers in a few large typed arrays: two bytes for each element, or four in lists with large
 * elements, and no object for a list.
 */
export class IdLists {
  readonly #narrow = new Lists(Uint16Array)
  /** Their handles are negative. */
  readonly #wide = new Lists(Uint32Array)

  add(ids: readonly number[]): ListHandle {
    if (ids.length === 0) return 0
    if (ids.length >= segmentLength) throw new RangeError(`a list of ${ids.length} ids is too long`)
    const isNarrow = ids.length <= narrowMax && ids.every((id) => id <= narrowMax)
    return isNarrow ? this.#narrow.add(ids) : -this.#wide.add(ids)
  }

  /** The elements, as a view that is valid until the list is dropped. */
  get(handle: ListHandle): Uint16Array | Uint32Array {
    if (handle === 0) return new Uint16Array()
    return handle > 0 ? this.#narrow.get(handle) : this.#wide.get(-handle)
  }

  drop(handle: ListHandle): void {
    if (handle > 0) this.#narrow.drop(handle)
    else if (handle < 0) this.#wide.drop(-handle)
  }
}

/** A list is its length, then its elements. The next list of that length reuses the space of a dropped one. */
class Lists<A extends Uint16Array | Uint32Array> {
  readonly #segments: A[] = []
  readonly #holes = new Map<number, ListHandle[]>()
  readonly #Segment: new (
    length: number,
  ) => A
  #end = segmentLength

  constructor(Segment: new (length: number) => A) {
    this.#Segment = Segment
  }

  /** @returns a positive number */
  add(ids: readonly number[]): ListHandle {
    const handle = this.#holes.get(ids.length)?.pop() ?? this.#allocate(ids.length)
    const [segment, start] = this.#locate(handle)
    segment[start] = ids.length
    segment.set(ids, start + 1)
    return handle
  }

  get(handle: ListHandle): A {
    const [segment, start] = this.#locate(handle)
    return segment.subarray(start + 1, start + 1 + (segment[start] ?? 0)) as A
  }

  drop(handle: ListHandle): void {
    const { length } = this.get(handle)
    const holes = this.#holes.get(length)
    if (holes === undefined) this.#holes.set(length, [handle])
    else holes.push(handle)
  }

  #allocate(length: number): ListHandle {
    if (this.#end + length + 1 > segmentLength) {
      this.#segments.push(new this.#Segment(segmentLength))
      this.#end = this.#segments.length === 1 ? 1 : 0
    }
    const handle = (this.#segments.length - 1) * segmentLength + this.#end
    this.#end += length + 1
    return handle
  }

  #locate(handle: ListHandle): [segment: A, start: number] {
    const segment = this.#segments[Math.floor(handle / segmentLength)] as A
    return [segment, handle % segmentLength]
  }
}
