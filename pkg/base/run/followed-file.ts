import { messageOf } from '../errors/errors.ts'
import { OptionsError } from '../options/options.ts'
import { Loop } from '../pacing/pacing.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'
import { readTextFile } from './text-file.ts'

/** How long a file has to stay as it is before its content counts. */
const restMs = 1000

interface FollowOptions<T> {
  /** The option that names the file, such as `upstream-policy`. */
  readonly flag: string
  /** Name of the gauge that says whether the file is valid. */
  readonly gauge: string
  readonly path: string
  /** @throws Error with file and line */
  readonly parse: (text: string, path: string) => T
  readonly log: Logger
  readonly metrics: Metrics
  /** How often to look for a change: the kubelet replaces files of ConfigMaps by links, which not every watch sees. */
  readonly lookMs?: number
  /** Whether to follow changes. */
  readonly follow?: boolean
}

/**
 * Reads the file of an option, and follows its changes. One that cannot be read keeps what it said before.
 *
 * @throws OptionsError if the file cannot be read at the start
 */
export async function followFile<T>(options: FollowOptions<T>): Promise<FollowedFile<T>> {
  const { flag, path, parse, follow = true } = options
  try {
    const text = await readTextFile(path)
    const file = new TextFile(options, { text, content: parse(text, path) })
    if (follow) file.follow()
    return file
  } catch (error) {
    throw new OptionsError([`--${flag}: ${messageOf(error)}`])
  }
}

interface State<T> {
  readonly text: string
  readonly content: T
}

export type FollowedFile<T> = Pick<TextFile<T>, 'current' | 'onChange' | 'close'>

/** The content of a file, now and after each change. */
class TextFile<T> {
  readonly #options: FollowOptions<T>
  readonly #lookMs: number
  readonly #valid
  readonly #looking = new Loop(() => this.#look())
  readonly #listeners = new Set<() => void>()
  #state: State<T>
  /** The text at the last look. */
  #seen: string
  #problem: string | undefined

  constructor(options: FollowOptions<T>, state: State<T>) {
    this.#options = options
    this.#lookMs = options.lookMs ?? 5000
    this.#state = state
    this.#seen = state.text
    const { flag, gauge: name, metrics } = options
    this.#valid = gauge(metrics, {
      name,
      help: `1 if the file of --${flag} is valid, 0 if it is not and its last valid content applies.`,
    })
    this.#valid.set(1)
  }

  /** Names its content in the log. */
  get #name(): string {
    return this.#options.flag.replaceAll('-', ' ')
  }

  get current(): T {
    return this.#state.content
  }

  /** @returns removes the listener */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  follow(): void {
    this.#looking.schedule(this.#lookMs)
  }

  /** Follows the file no longer. */
  close(): Promise<void> {
    return this.#looking.close()
  }

  async #look(): Promise<number> {
    try {
      const text = await readTextFile(this.#options.path)
      // One that is half written may be valid, and say less.
      if (text !== this.#state.text && text !== this.#seen) {
        this.#seen = text
        return Math.min(this.#lookMs, restMs)
      }
      this.#take(text)
    } catch (error) {
      this.#fail(messageOf(error))
    }
    return this.#lookMs
  }

  /** @throws Error with file and line */
  #take(text: string): void {
    const { path, parse, log } = this.#options
    const content = parse(text, path)
    const isOther = text !== this.#state.text
    if (isOther || this.#problem !== undefined) log.info({ path }, `${this.#name} read`)
    this.#problem = undefined
    this.#valid.set(1)
    if (!isOther) return
    this.#state = { text, content }
    for (const listener of this.#listeners) listener()
  }

  #fail(problem: string): void {
    const { log } = this.#options
    if (problem !== this.#problem) {
      log.error({ problem }, `${this.#name} cannot be read: its last valid state applies`)
    }
    this.#problem = problem
    this.#valid.set(0)
  }
}
