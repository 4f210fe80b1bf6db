import { messageOf } from '../errors/errors.ts'
import { Loop } from '../pacing/pacing.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import { readTextFile } from './text-file.ts'

/** How long a file has to stay as it is before its content counts. */
const restMs = 1000

interface FollowOptions<T> {
  readonly path: string
  /** @throws Error with file and line */
  readonly parse: (text: string, path: string) => T
  /** Names its content in the log. */
  readonly name: string
  readonly log: Logger
  /** Makes the gauge that says whether the file can be read, once it was read. */
  readonly valid: () => { set(value: 0 | 1): void }
  /** How often to look for a change: the kubelet replaces files of ConfigMaps by links, which not every watch sees. */
  readonly lookMs?: number
  /** Whether to follow changes. */
  readonly follow?: boolean
}

/**
 * Reads a file, and follows its changes. One that cannot be read keeps what it said before.
 *
 * @throws Error if the file cannot be read at the start
 */
export async function followFile<T>(options: FollowOptions<T>): Promise<FollowedFile<T>> {
  const { path, parse, follow = true } = options
  const text = await readTextFile(path)
  const file = new TextFile(options, { text, content: parse(text, path) })
  if (follow) file.follow()
  return file
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
  readonly #valid: { set(value: 0 | 1): void }
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
    this.#valid = options.valid()
    this.#valid.set(1)
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
    const { path, parse, name, log } = this.#options
    const content = parse(text, path)
    const isOther = text !== this.#state.text
    if (isOther || this.#problem !== undefined) log.info({ path }, `${name} read`)
    this.#problem = undefined
    this.#valid.set(1)
    if (!isOther) return
    this.#state = { text, content }
    for (const listener of this.#listeners) listener()
  }

  #fail(problem: string): void {
    const { name, log } = this.#options
    if (problem !== this.#problem) {
      log.error({ problem }, `${name} cannot be read: its last valid state applies`)
    }
    this.#problem = problem
    this.#valid.set(0)
  }
}
