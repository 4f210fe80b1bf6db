import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { allows, type Binding } from '../access/access.ts'
import { Bits } from './collections.ts'
import { type Listed, noTotals, type Totals } from './summary.ts'
import { accumulate } from './version-sums.ts'

/** Entries that are visible in addition to the public ones. */
type Allows = (kind: ParentKind, name: string) => boolean

/** Entries by number. Numbers of deleted entries are empty. */
export type Numbered = readonly (Listed | undefined)[]

/**
 * The visible entries of one kind of caller, as a set of numbers: `all`, `public`, or the view of a GroupBinding (public
 * entries and those that the binding allows).
 */
export class View {
  /** Unique key of the view. */
  readonly key: string
  /** Whether Depots without the public label are visible. */
  readonly showsEveryDepot: boolean
  readonly #allows: Allows
  readonly #allowed = new Bits()
  #seen = new Bits()
  #totals: { readonly revision: number; readonly sum: Totals } | undefined

  constructor(key: string, isAllowed: Allows) {
    this.key = key
    this.showsEveryDepot = key !== 'public'
    this.#allows = isAllowed
  }

  /** The visible entries. Callers must not change the set. */
  get seen(): Bits {
    return this.#seen
  }

  /** The sum over the visible entries, kept for one revision. */
  totals(entries: Numbered, revision: number): Readonly<Totals> {
    if (this.#totals?.revision !== revision) {
      this.#totals = { revision, sum: sumOf(this.#seen, entries) }
    }
    return this.#totals.sum
  }

  /** Whether the view shows a name, even if no entry has it. */
  allows(kind: ParentKind, name: string): boolean {
    return this.#allows(kind, name)
  }

  /** Adds a new entry if the view shows it. */
  admit(entry: Listed): void {
    const { kind, name } = entry.summary
    if (this.#allows(kind, name)) this.#allowed.add(entry.number)
    this.review(entry)
  }

  /** Removes an entry that no longer exists. */
  dismiss({ number }: Listed): void {
    this.#allowed.delete(number)
    this.#seen.delete(number)
  }

  /** Applies a change of `isPublic` of one entry. */
  review({ number, isPublic }: Listed): void {
    if (isPublic || this.#allowed.has(number)) this.#seen.add(number)
    else this.#seen.delete(number)
  }

  /** Applies a change of `isPublic` of many entries. */
  reviewAll(isPublic: Bits): void {
    this.#seen = this.#allowed.copy().merge(isPublic)
  }
}

export function sumOf(set: Bits, entries: Numbered): Totals {
  const sum = noTotals()
  for (const number of set) {
    const entry = entries[number]
    if (entry !== undefined) accumulate(sum, entry.summary.totals)
  }
  return sum
}

/** All views. The view of a binding costs nothing until it is first used. */
export class Views {
  /** Number of the next view, which makes keys unique. */
  #opened = 0
  readonly all = new View('all', () => true)
  readonly public = new View('public', () => false)
  readonly #bindings = new Map<string, { readonly binding: Binding; readonly view: View }>()

  of(binding: Binding, entries: Numbered): View {
    const known = this.#bindings.get(binding.name)
    if (known?.binding === binding) return known.view
    this.#opened += 1
    const key = `${binding.name} ${this.#opened}`
    const view = new View(key, (kind, name) => allows(binding, kind, name))
    for (const entry of entries) if (entry !== undefined) view.admit(entry)
    this.#bindings.set(binding.name, { binding, view })
    return view
  }

  /** Applies a change of `isPublic` of some entries. */
  republish(changed: Bits, entries: Numbered): void {
    const isPublic = this.public.seen.copy()
    for (const number of changed) {
      if (entries[number]?.isPublic) isPublic.add(number)
      else isPublic.delete(number)
    }
    for (const view of this.each()) view.reviewAll(isPublic)
  }

  /** Removes the view of a deleted binding. */
  forget(bindingName: string): void {
    this.#bindings.delete(bindingName)
  }

  /** All views that a caller may hold. */
  *each(): Generator<View> {
    yield this.all
    yield this.public
    for (const { view } of this.#bindings.values()) yield view
  }
}
