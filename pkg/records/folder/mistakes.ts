import {
  formatPath,
  ignoredBindingIssue,
  mistakesIn,
  nameIssue,
  publicLabelIssue,
  type Resource,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { Entry } from './manifest-file.ts'

/** Lines of a start or a change; the rest is logged at debug. */
const maxLines = 100

export interface MistakesOptions {
  readonly apiGroup: string
  /** The one namespace whose GroupBindings count. */
  readonly namespace: string | undefined
  readonly log: Logger
}

/**
 * Says, once for each object and mistake, what an API server would have refused, which no folder does, and what is valid
 * but has no effect.
 */
export class Mistakes {
  readonly #options: MistakesOptions
  readonly #known = new Map<string, string>()

  constructor(options: MistakesOptions) {
    this.#options = options
  }

  /** Looks at what a file holds now. */
  look(file: string, entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { key, line, resource } = entry
      const mistake = resource && this.#mistakeIn(resource, entry)
      const id = `${key.kind} ${key.namespace}/${key.name}`
      if (mistake === undefined) {
        if (resource !== undefined) this.#known.delete(id)
        continue
      }
      const { message } = mistake
      const field = formatPath(mistake.path)
      if (this.#known.get(id) === `${field} ${message}`) continue
      this.#known.set(id, `${field} ${message}`)
      const level = this.#known.size > maxLines ? 'debug' : 'warn'
      this.#options.log[level](
        { file, line, ...key, field, message },
        'object cannot work as it is',
      )
    }
  }
  #mistakeIn(resource: Resource, { unknown }: Entry) {
    const { apiGroup, namespace } = this.#options
    return (
      mistakesIn(resource)[0] ??
      nameIssue(resource) ??
      unknown?.[0] ??
      publicLabelIssue(resource, apiGroup) ??
      (namespace === undefined ? undefined : ignoredBindingIssue(resource, namespace))
    )
  }
}
