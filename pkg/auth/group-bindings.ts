import { type Binding, Bindings, type Decision } from '../access/access.ts'
import type { Change, Resource, ResourceSink } from '../apis/v1alpha1/v1alpha1.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'

export interface GroupBindingsOptions {
  /** The one namespace whose GroupBindings count: who may write elsewhere must not grant access. */
  readonly namespace: string
  readonly log: Logger
  readonly metrics: Metrics
}

/** The GroupBindings in force, kept in step with where resources come from. */
export class GroupBindings implements ResourceSink {
  readonly #bindings = new Bindings()
  readonly #problems = new Set<string>()
  readonly #namespace: string
  readonly #log: Logger
  #revision = 0

  constructor({ namespace, log, metrics }: GroupBindingsOptions) {
    this.#namespace = namespace
    this.#log = log.child({ component: 'auth' })
    gauge(
      metrics,
      {
        name: 'groupbindings_invalid',
        help: 'GroupBindings with something in them that does not compile.',
      },
      (it) => it.set(this.#problems.size),
    )
  }

  /** Another one whenever a decision may come out otherwise than before. */
  get revision(): number {
    return this.#revision
  }

  /** In the order in which they are asked. */
  get ordered(): readonly Binding[] {
    return this.#bindings.ordered
  }

  decide(groups: readonly string[]): Decision {
    return this.#bindings.decide(groups)
  }

  /** What each of them says, whatever comes before it. */
  explain(groups: readonly string[]): ReturnType<Bindings['explain']> {
    return this.#bindings.explain(groups)
  }

  apply(change: Change): void {
    if (change.type === 'upsert') this.#upsert(change.resource)
    else if (change.kind === 'GroupBinding' && change.namespace === this.#namespace) {
      this.#delete(change.name)
    }
  }

  beginReplace(kind: Resource['kind']): { add(resource: Resource): void; commit(): void } {
    if (kind !== 'GroupBinding') return { add: () => undefined, commit: () => undefined }
    const added = new Set<string>()
    return {
      add: (resource) => {
        if (this.#upsert(resource)) added.add(resource.metadata.name)
      },
      commit: () => {
        for (const { name } of this.#bindings.ordered) if (!added.has(name)) this.#delete(name)
      },
    }
  }

  /** @returns whether it is one that counts */
  #upsert(resource: Resource): boolean {
    if (resource.kind !== 'GroupBinding') return false
    if (resource.metadata.namespace !== this.#namespace) return false
    const changed = this.#bindings.upsert(resource)
    if (changed === undefined) return true
    this.#revision += 1
    const { name, problem } = changed
    if (problem === undefined) this.#problems.delete(name)
    else {
      this.#problems.add(name)
      this.#log.error(
        { namespace: this.#namespace, name, problem },
        'GroupBinding is not valid: callers who come to it are denied',
      )
    }
    return true
  }

  #delete(name: string): void {
    this.#bindings.delete(name)
    this.#problems.delete(name)
    this.#revision += 1
  }
}
