import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { allows, type Binding } from '../access/access.ts'
import { Bits } from './bits.ts'
import type { Listed } from './listed.ts'
import { accumulate, noTotals, type Totals } from './totals.ts'

/** Entries that are visible in addition to the public ones. */
type Allows = (kind: ParentKind, name: string) => boolean

/** Entries by number; those of deleted entries are empty. */
export type Numbered = readonly (Listed | undefined)[]

/**
 * The visible entries of one kind of caller, as a set of their numbers: `all`, `public`, or that of one GroupBinding,
 * which is what is public and what the binding allows.
 */
export class View {
  /** Unlike that of any other view. */
  readonly key: string
  /** True if Depots without the public label are visible. */
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

  /** The visible entries; must not be changed by others. */
  get seen(): Bits {
    return this.#seen
  }

  /** The sum over all that is seen, kept for one revision of the entries. */
  totals(entries: Numbered, revision: number): Readonly<Totals> {
    if (this.#totals?.revision !== revision) {
      this.#totals = { revision, sum: sumOf(this.#seen, entries) }
    }
    return this.#totals.sum
  }

  /** Tells whether a name may be seen that is not listed. */
  allows(kind: ParentKind, name: string): boolean {
    return this.#allows(kind, name)
  }

  /** Takes an entry in that is new, if it may be seen. */
  admit(entry: Listed): void {
    const { kind, name } = entry.summary
    if (this.#allows(kind, name)) this.#allowed.add(entry.number)
    this.review(entry)
  }

  /** Forgets an entry that is gone. */
  dismiss({ number }: Listed): void {
    this.#allowed.delete(number)
    this.#seen.delete(number)
  }

  /** Follows a change of `isPublic` of one entry. */
  review({ number, isPublic }: Listed): void {
    if (isPublic || this.#allowed.has(number)) this.#seen.add(number)
    else this.#seen.delete(number)
  }

  /** Follows a change of `isPublic` of many. */
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

/** All views. That of a binding costs nothing until it is first asked for. */
export class Views {
  /** Numbers the views, so that no two have the same key. */
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

  /** Follows a change of `isPublic` of some entries. */
  republish(changed: Bits, entries: Numbered): void {
    const isPublic = this.public.seen.copy()
    for (const number of changed) {
      if (entries[number]?.isPublic) isPublic.add(number)
      else isPublic.delete(number)
    }
    for (const view of this.each()) view.reviewAll(isPublic)
  }

  /** Drops the view of a binding that is gone. */
  forget(bindingName: string): void {
    this.#bindings.delete(bindingName)
  }

  /** Every view that a caller may hold. */
  *each(): Generator<View> {
    yield this.all
    yield this.public
    for (const { view } of this.#bindings.values()) yield view
  }
}
