import { Worker } from 'node:worker_threads'
import { unavailable } from '../../base/errors/errors.ts'

/** A digest on its way. It must come to `digest` or `drop` in the end; both is fine. */
export interface Digesting {
  /** Takes bytes over; when it resolves they may change. One call at a time. */
  update(bytes: Uint8Array): Promise<void>
  /** In lower-case hexadecimal. @throws RegistryError Unavailable where the thread has ended */
  digest(): Promise<string>
  /** It is not wanted any more. */
  drop(): void
}

/** Memory that both threads see. Bytes are copied into it once, and no garbage is left of them. */
const slotBytes = 256 * 1024
/** How many bytes may be on their way: 2 MB, a chunk of each of 8 downloads. */
const maxSlots = 8
/** How long the thread waits for another digest before it ends. To start one takes 30 ms, and it holds 11 MB. */
const idleMs = 30_000

/** Of a thread that needs no file of its own: the image has one file a command. */
const program = `
const { createHash } = require('node:crypto')
const { parentPort } = require('node:worker_threads')
const hashes = new Map()
parentPort.on('message', ({ id, slot, length, end }) => {
  if (slot !== undefined) {
    let hash = hashes.get(id)
    if (hash === undefined) hashes.set(id, (hash = createHash('sha256')))
    hash.update(new Uint8Array(slot, 0, length))
    parentPort.postMessage({ slot })
  } else {
    const sha256 = end ? (hashes.get(id) ?? createHash('sha256')).digest('hex') : undefined
    hashes.delete(id)
    if (end) parentPort.postMessage({ id, sha256 })
  }
})`

/** What the thread says: a slot is free again, or a digest is done. */
type Report =
  | { readonly slot: SharedArrayBuffer }
  | { readonly id: number; readonly sha256: string }

/** A thread that hashes; it starts when it is needed, ends when it is not, and keeps no process from ending. */
export class HashingThread {
  readonly #program: string
  #worker: Worker | undefined
  #free: SharedArrayBuffer[] = []
  #madeSlots = 0
  /** Who waits for a slot, in order; they look again when they are woken. */
  #waiting: (() => void)[] = []
  readonly #digests = new Map<number, PromiseWithResolvers<string>>()
  #count = 0
  /** Digests that are neither done nor dropped. */
  readonly #open = new Set<number>()
  #idle: NodeJS.Timeout | undefined

  /** @param source of the thread, for tests */
  constructor(source = program) {
    this.#program = source
  }

  /** Whether there is a thread; for tests, which see by it that it ends. */
  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  start(): Digesting {
    this.#count += 1
    const id = this.#count
    const worker = (this.#worker ??= this.#start())
    this.#open.add(id)
    clearTimeout(this.#idle)
    const send = (message: object): void => {
      if (this.#worker !== worker) throw ended()
      worker.postMessage({ id, ...message }, [])
    }
    let isDropped = false
    return {
      update: async (bytes) => {
        for (let from = 0; from < bytes.length; from += slotBytes) {
          const slot = await this.#takeSlot(worker)
          if (isDropped) return this.#giveBack(slot)
          const part = bytes.subarray(from, from + slotBytes)
          new Uint8Array(slot).set(part)
          send({ slot, length: part.length })
        }
      },
      digest: () => {
        const digest = Promise.withResolvers<string>()
        this.#digests.set(id, digest)
        try {
          send({ end: true })
        } catch (error) {
          this.#digests.delete(id)
          digest.reject(error)
        }
        return digest.promise
      },
      drop: () => {
        isDropped = true
        this.#close(id)
        if (this.#worker === worker) worker.postMessage({ id, end: false }, [])
      },
    }
  }

  #start(): Worker {
    const worker = newWorker(this.#program)
    worker.unref()
    worker.on('message', (report: Report) => {
      if (this.#worker !== worker) return
      if ('slot' in report) this.#giveBack(report.slot)
      else {
        this.#digests.get(report.id)?.resolve(report.sha256)
        this.#digests.delete(report.id)
        this.#close(report.id)
      }
    })
    const onEnd = (): void => {
      if (this.#worker !== worker) return
      this.#forget()
    }
    worker.on('error', onEnd).on('exit', onEnd)
    return worker
  }

  /** The digest is done or dropped. */
  #close(id: number): void {
    if (!this.#open.delete(id) || this.#open.size > 0) return
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate()
      this.#forget()
    }, idleMs).unref()
  }

  /** The thread is gone, with the slots that it has and what it was to hash. */
  #forget(): void {
    this.#worker = undefined
    this.#free = []
    this.#madeSlots = 0
    this.#open.clear()
    for (const digest of this.#digests.values()) digest.reject(ended())
    this.#digests.clear()
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #giveBack(slot: SharedArrayBuffer): void {
    this.#free.push(slot)
    this.#waiting.shift()?.()
  }

  async #takeSlot(worker: Worker): Promise<SharedArrayBuffer> {
    for (;;) {
      if (this.#worker !== worker) throw ended()
      const free = this.#free.pop()
      if (free !== undefined) return free
      if (this.#madeSlots < maxSlots) {
        this.#madeSlots += 1
        return new SharedArrayBuffer(slotBytes)
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
  }
}

/** @throws RegistryError Unavailable where the system has no more threads */
function newWorker(source: string): Worker {
  try {
    return new Worker(source, {
      eval: true,
      // Some options of this process a thread does not know. Flags of V8 hold for all threads: so does the size of the young
      // generation, whatever the limits here say.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 16 },
    })
  } catch {
    throw ended()
  }
}

const ended = () => unavailable('the digest of the archive could not be computed')

/** One for the whole process. */
export const hashingThread = new HashingThread()
