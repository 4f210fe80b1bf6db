import { hash } from 'node:crypto'
import type {
  Change,
  GroupBinding,
  Replacement,
  Resource,
  ResourceSink,
} from '../../api/v1alpha1/v1alpha1.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import { ExpressionError, groupList } from '../../expr/expr.ts'
import {
  type AccessDecision,
  ask,
  type Binding,
  type BindingOutcome,
  compileBinding,
  maxSteps,
  sameSpec,
} from './binding.ts'

export interface GroupBindingsOptions {
  /** The only namespace whose GroupBindings count: writers of other namespaces must not grant access. */
  readonly namespace: string
  readonly log: Logger
  readonly metrics: Metrics
}

/** Limit of remembered decisions, one for each list of groups. */
const maxDecisions = 10_000

const ignored: Replacement = {
  add: () => undefined,
  keep: () => undefined,
  commit: () => undefined,
}

/** The current GroupBindings, in the order of their names. */
export class GroupBindings implements ResourceSink {
  /** Changes whenever a decision may change. */
  revision = 0
  readonly #byName = new Map<string, Binding>()
  readonly #decisions = new Bounded<AccessDecision>({ maxEntries: maxDecisions })
  /** Whether a binding counts for jobs, once a job asked. */
  readonly #forJobs = new WeakMap<Binding, boolean>()
  readonly #namespace: string
  readonly #log: Logger
  #ordered: readonly Binding[] | undefined

  constructor({ namespace, log, metrics }: GroupBindingsOptions) {
    this.#namespace = namespace
    this.#log = log.child({ component: 'auth' })
    gauge(metrics, {
      name: 'groupbindings_invalid',
      help: 'GroupBindings with something in them that does not compile.',
      collect: (it) => it.set(this.ordered.filter(({ problem }) => problem !== undefined).length),
    })
  }

  /** In the order of evaluation: by the bytes of their names. */
  get ordered(): readonly Binding[] {
    this.#ordered ??= [...this.#byName.values()].toSorted((left, right) =>
      Buffer.compare(Buffer.from(left.name), Buffer.from(right.name)),
    )
    return this.#ordered
  }

  /**
   * The first binding whose expression is true. One that cannot be compiled or evaluated ends the search.
   *
   * @param groups in the order of the token, which matters to expressions
   * @param isJob whether the token is one of CI. Anybody has such a token, so bindings that need no group do not count.
   */
  decide(groups: readonly string[], isJob = false): AccessDecision {
    const key = hash('sha256', JSON.stringify([isJob, groups]), 'base64')
    return this.#decisions.getOrMake(key, () => this.#search(groups, isJob))
  }

  /** The result of each binding, whatever the bindings before it decide. */
  explain(groups: readonly string[], isJob = false): BindingOutcome[] {
    const list = groupList(groups)
    let left = maxSteps
    return this.ordered.map((binding) => {
      const { result, steps } = ask(binding, list, left)
      left -= steps
      return { name: binding.name, result, counts: !isJob || this.#isForJobs(binding) }
    })
  }

  apply(change: Change): void {
    if (change.type === 'upsert') this.#upsert(change.resource)
    else if (change.kind === 'GroupBinding' && change.namespace === this.#namespace) {
      this.#delete(change.name)
    }
  }

  beginReplace(kind: Resource['kind']): Replacement {
    if (kind !== 'GroupBinding') return ignored
    const added = new Set<string>()
    return {
      add: (resource) => {
        if (this.#upsert(resource)) added.add(resource.metadata.name)
      },
      keep: ({ namespace, name }) => {
        if (namespace === this.#namespace) added.add(name)
      },
      commit: () => {
        for (const { name } of this.ordered) if (!added.has(name)) this.#delete(name)
      },
    }
  }

  #search(groups: readonly string[], isJob: boolean): AccessDecision {
    const list = groupList(groups)
    let left = maxSteps
    for (const binding of this.ordered) {
      if (isJob && !this.#isForJobs(binding)) continue
      const { result, steps } = ask(binding, list, left)
      left -= steps
      if (result === true) return { kind: 'matched', binding }
      if (result !== false) return { kind: 'failed', name: binding.name, error: result }
    }
    return { kind: 'none' }
  }

  /** One that does not compile counts, and denies as it does to everybody. */
  #isForJobs(binding: Binding): boolean {
    const known = this.#forJobs.get(binding)
    if (known !== undefined) return known
    const isBroken = binding.rule instanceof ExpressionError
    const counts = isBroken || ask(binding, groupList([]), maxSteps).result === false
    this.#forJobs.set(binding, counts)
    if (!counts) {
      this.#log.warn(
        { namespace: this.#namespace, name: binding.name },
        'GroupBinding does not count for jobs of --publish-issuers, because its expression is not false for a caller without groups: anybody can have such a job. Name the groups that it is for, if jobs should have these rights',
      )
    }
    return counts
  }

  /** @returns whether the GroupBinding counts */
  #upsert(resource: Resource): boolean {
    if (resource.kind !== 'GroupBinding') return false
    if (resource.metadata.namespace !== this.#namespace) return false
    const { name } = resource.metadata
    const known = this.#byName.get(name)
    if (known === undefined || !sameSpec(known.spec, resource.spec)) this.#put(resource)
    return true
  }

  #put(resource: GroupBinding): void {
    const binding = compileBinding(resource)
    const { name, problem } = binding
    this.#byName.set(name, binding)
    this.#changed()
    if (problem === undefined) return
    this.#log.error(
      { namespace: this.#namespace, name, problem },
      'GroupBinding is not valid: callers are denied if no binding before it matches',
    )
  }

  #delete(name: string): void {
    if (this.#byName.delete(name)) this.#changed()
  }

  #changed(): void {
    this.#ordered = undefined
    this.#decisions.clear()
    this.revision += 1
  }
}
