import { formatPath, mistakesIn } from '../apis/v1alpha1/v1alpha1.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import type { Entry } from './manifest-file.ts'

/** Lines of a start or a change; the rest is logged at debug. */
const maxLines = 100

/** Says, once for each object and mistake, what an API server would have refused, which no folder does. */
export class Mistakes {
  readonly #log: Logger
  readonly #known = new Map<string, string>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Looks at what a file holds now. */
  look(file: string, entries: readonly Entry[]): void {
    for (const { key, line, resource } of entries) {
      const [mistake] = resource === undefined ? [] : mistakesIn(resource)
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
      this.#log[level]({ file, line, ...key, field, message }, 'object cannot work as it is')
    }
  }
}
