import {
  type FieldIssue,
  formatPath,
  ignoredBindingIssue,
  mistakesIn,
  nameIssue,
  publicLabelIssue,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { Entry, ParseOptions } from './manifest-file.ts'

/** Maximum number of lines about a start or a change. The rest is logged at debug. */
const maxLines = 100

/**
 * Finds a value that an API server would have refused, or that is valid but has no effect.
 *
 * @param namespace the only namespace whose GroupBindings count
 */
export function mistakeFinder(
  apiGroup: string,
  namespace: string | undefined,
): NonNullable<ParseOptions<unknown, unknown>['mistakeIn']> {
  return ({ resource, unknown }): FieldIssue | undefined =>
    mistakesIn(resource)[0] ??
    nameIssue(resource) ??
    unknown?.[0] ??
    publicLabelIssue(resource, apiGroup) ??
    (namespace === undefined ? undefined : ignoredBindingIssue(resource, namespace))
}

/** Logs each mistake of an object once. */
export class Mistakes {
  readonly #log: Logger
  readonly #known = new Map<string, string>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Checks the current content of a file. */
  look(file: string, entries: readonly Entry<unknown>[]): void {
    for (const { key, line, object, mistake } of entries) {
      const id = `${key.kind} ${key.namespace}/${key.name}`
      if (mistake === undefined) {
        if (object !== undefined) this.#known.delete(id)
        continue
      }
      const { message } = mistake
      const field = formatPath(mistake.path)
      if (this.#known.get(id) === `${field} ${message}`) continue
      this.#known.set(id, `${field} ${message}`)
      const level = this.#known.size > maxLines ? 'debug' : 'warn'
      this.#log[level]({ file, line, ...key, field, message }, 'object cannot work as it is')
    }
  }
}
