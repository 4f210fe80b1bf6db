import { messageOf } from '../errors/errors.ts'
import { contentsOf, watchContents } from '../files/files.ts'
import { OptionsError } from '../options/options.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'
import { readTextFile } from './text-file.ts'

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
  /**
   * How often to look for a change: the kubelet replaces files of ConfigMaps by links, which not every watch sees. Default:
   * 2,500.
   */
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
  const known = contentsOf([path])
  try {
    const text = await readTextFile(path)
    const file = new TextFile(options, { text, content: parse(text, path) })
    if (follow) file.follow(known)
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
  readonly #valid
  readonly #listeners = new Set<() => void>()
  #state: State<T>
  #problem: string | undefined
  #watching: ReturnType<typeof watchContents> | undefined

  constructor(options: FollowOptions<T>, state: State<T>) {
    this.#options = options
    this.#state = state
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

  /** @param known contents of the file before it was read */
  follow(known: string): void {
    const { path, lookMs: intervalMs = 2500 } = this.#options
    this.#watching = watchContents([path], { known, intervalMs, onChange: () => this.#read() })
  }

  /** Follows the file no longer. */
  close(): void {
    this.#watching?.stop()
  }

  /** @returns whether it could be read: a disk may fail once */
  async #read(): Promise<boolean> {
    try {
      this.#take(await readTextFile(this.#options.path))
      return true
    } catch (error) {
      this.#fail(messageOf(error))
      return false
    }
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
